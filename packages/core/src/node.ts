/** The public names that need Node: files on disk, and commands. */
export {};
