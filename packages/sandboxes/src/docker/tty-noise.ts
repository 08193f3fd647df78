/** Complaints of a shell without a terminal, which are removed from the output. */

/**
 * Whole lines only, as bash writes them: the name of the shell, perhaps a line number, the complaint. A line that
 * merely mentions one stays.
 */
const NOISE =
  /^(?:[\w./-]*sh: )(?:line \d+: )?(?:cannot set terminal process group \(-?\d+\)(?:: [^\n]*)?|no job control in this shell|initialize_job_control: (?:[^\n]*: )?Bad file descriptor)\r?(?:\n|$)/gm;

/** The output without the lines a shell writes because it has no terminal. */
export function withoutTtyNoise(output: string): string {
  return output.includes("sh: ") ? output.replace(NOISE, "") : output;
}
