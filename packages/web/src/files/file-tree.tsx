/** Directories that open one by one. */
import { useEffect, useState } from "preact/hooks";
import { escapeHidden } from "../approvals/revealed.ts";
import { failureWords } from "../state/connection.ts";
import { words } from "../words.ts";
import { type Entry, listDirectory } from "./file-calls.ts";
import { fileWords } from "./file-words.ts";
import { type OpenedFile, openedFile } from "./open-file.ts";

/** Directories that are open, by agent and path, so that they are open again when the tree is shown again. */
const open = new Set<string>();

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

interface Listed {
  readonly entries: readonly Entry[];
  readonly next?: string | undefined;
}

interface DirectoryProps {
  /** The agent whose directory it is. */
  readonly agent: string;
  readonly path: string;
  /** Another number: looked at again. */
  readonly version: number;
  readonly onMissing?: (() => void) | undefined;
}

/** The entries of one directory. */
export function Directory({ agent, path, version, onMissing }: DirectoryProps) {
  const [listed, setListed] = useState<Listed>();
  const [failure, setFailure] = useState<string>();
  const look = (after?: string): void => {
    listDirectory(agent, path, after).then(
      (page) => {
        if (!page) return onMissing?.();
        setFailure(undefined);
        setListed((before) => ({
          entries: after === undefined ? page.entries : [...(before?.entries ?? []), ...page.entries],
          next: page.next,
        }));
      },
      (error: unknown) => setFailure(failureWords(error)),
    );
  };
  useEffect(look, [agent, path, version]);
  if (failure !== undefined) return <p class="failure">{failure}</p>;
  if (!listed) return <p class="muted">{words.loading}</p>;
  if (listed.entries.length === 0) return <p class="muted">{fileWords.emptyDirectory}</p>;
  return (
    <ul class="tree">
      {sorted(listed.entries).map((entry) => (
        <li key={entry.path}>
          {entry.is_dir ? (
            <Folder agent={agent} path={entry.path} version={version} />
          ) : (
            <FileButton source="directory" agent={agent} path={entry.path} name={nameOf(entry.path)} />
          )}
        </li>
      ))}
      {listed.next !== undefined && (
        <li>
          <button type="button" class="quiet" onClick={() => look(listed.next)}>
            {fileWords.more}
          </button>
        </li>
      )}
    </ul>
  );
}

/** Directories first. */
function sorted(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((one, other) => Number(other.is_dir) - Number(one.is_dir));
}

function Folder({ agent, path, version }: DirectoryProps) {
  const key = `${agent}|${path}`;
  const [isOpen, setOpen] = useState(open.has(key));
  const toggle = (): void => {
    if (isOpen) open.delete(key);
    else open.add(key);
    setOpen(!isOpen);
  };
  return (
    <>
      <button type="button" class="quiet entry" aria-expanded={isOpen} onClick={toggle}>
        <span class="fold" aria-hidden="true">
          {isOpen ? "▾" : "▸"}
        </span>
        {escapeHidden(nameOf(path))}/
      </button>
      {isOpen && <Directory agent={agent} path={path} version={version} />}
    </>
  );
}

export function FileButton({ source, agent, path, name }: OpenedFile & { readonly name: string }) {
  return (
    <button type="button" class="quiet entry" onClick={() => (openedFile.value = { source, agent, path })}>
      <span class="fold" aria-hidden="true" />
      {escapeHidden(name)}
    </button>
  );
}
