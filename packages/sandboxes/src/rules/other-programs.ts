/** Programs that run their arguments: allowing one with free words would allow everything. */

const RUNNERS: ReadonlySet<string> = new Set(
  [
    "sh bash dash zsh fish ksh mksh ash csh tcsh pwsh powershell busybox toybox",
    "node nodejs deno bun tsx npx bunx pnpx uvx pipx perl ruby php lua luajit tclsh osascript Rscript julia",
    "awk gawk mawk nawk sed ed ex vi vim nvim emacs nano less more man gdb lldb strace ltrace",
    "env xargs parallel nice ionice nohup timeout time sudo doas su runuser setsid stdbuf flock chroot unshare nsenter",
    "setpriv bwrap watch script screen tmux expect at batch crontab ssh rsync scp make cmake ninja",
    "eval exec source command builtin trap export declare typeset readonly local alias unalias set shopt enable hash",
    "docker podman kubectl",
  ]
    .join(" ")
    .split(" "),
);

/** Also by names with a version: `python3.12`. */
export function runsOtherPrograms(program: string): boolean {
  return (
    RUNNERS.has(program) ||
    /^(python|pypy|ruby|perl|lua|node|php|bash|gawk|rust-script)[\d.-]*$/i.test(program)
  );
}
