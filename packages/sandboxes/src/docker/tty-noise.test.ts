import { expect, test } from "vitest";
import { withoutTtyNoise } from "./tty-noise.ts";

test.each([
  ["bash: cannot set terminal process group (-1): Inappropriate ioctl for device\n", ""],
  ["bash: cannot set terminal process group (1234): Inappropriate ioctl for device\n", ""],
  ["bash: cannot set terminal process group (-1)\n", ""],
  ["bash: no job control in this shell\n", ""],
  ["bash: no job control in this shell", ""],
  ["/bin/bash: no job control in this shell\r\n", ""],
  ["sh: no job control in this shell\n", ""],
  ["bash: initialize_job_control: Bad file descriptor\n", ""],
  ["bash: initialize_job_control: no job control in background: Bad file descriptor\n", ""],
  ["bash: line 1: no job control in this shell\n", ""],
  [
    "before\nbash: cannot set terminal process group (-1): Inappropriate ioctl for device\nbash: no job control in this shell\nafter\n",
    "before\nafter\n",
  ],
  ["no job control in this shell\n", "no job control in this shell\n"],
  ["notes.md:3: bash: no job control in this shell\n", "notes.md:3: bash: no job control in this shell\n"],
  ["bash: no job control in this shell, he said\n", "bash: no job control in this shell, he said\n"],
  ["bash: nope: command not found\n", "bash: nope: command not found\n"],
  ["bash: /etc/x: Bad file descriptor\n", "bash: /etc/x: Bad file descriptor\n"],
  ["", ""],
  ["\n\n", "\n\n"],
])("of %j is left %j", (output, left) => {
  expect(withoutTtyNoise(output)).toBe(left);
});
