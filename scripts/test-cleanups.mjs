// What test helpers have to close. Hooks that a helper registers when it is loaded would be those of the first
// file that loads it: files share a process, and its modules. `test-hooks.mjs` is loaded for each file.
const ofTest = [];
const ofFile = [];

/** Runs when the test that is at work is over, or the file, for what was opened outside of tests. The last goes first. */
export function afterThisTest(close) {
  ofTest.push(close);
}

export function afterThisFile(close) {
  ofFile.push(close);
}

export const endTest = () => runAll(ofTest);

export async function endFile() {
  await runAll(ofTest);
  await runAll(ofFile);
}

/** All of them, whatever one throws. */
async function runAll(closers) {
  const errors = [];
  for (let close = closers.pop(); close; close = closers.pop())
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
}
