/** Loaded into the app: ends its process in the moment of the first frame, before anything else is loaded. */
const write = process.stdout.write.bind(process.stdout);

process.stdout.write = (text, ...rest) => {
  const wrote = write(text, ...rest);
  if (String(text).includes("Shift-Tab")) process.reallyExit(0);
  return wrote;
};
