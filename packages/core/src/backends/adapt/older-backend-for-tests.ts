/** A backend of the older protocol, as people have written them: bare lists, numbered text, words for errors. */

import type { AnyFileData, FileInfo, GrepMatch } from "../backend.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import type { BackendProtocolV1 } from "./adapt.ts";

export class OlderMapBackend implements BackendProtocolV1 {
  readonly inner: MapBackend;

  constructor(files: Record<string, string> = {}) {
    this.inner = new MapBackend(files);
  }

  async lsInfo(path: string): Promise<FileInfo[]> {
    return (await this.inner.ls(path)).files ?? [];
  }

  async read(path: string, offset = 0, limit = 2000): Promise<string> {
    const page = await this.inner.read(path, offset, limit);
    if (page.error !== undefined) return `Error: ${page.error}`;
    if (page.content === "") return "System reminder: File exists but has empty contents";
    return String(page.content)
      .replace(/\n$/, "")
      .split("\n")
      .map((line, index) => `${String(offset + index + 1).padStart(6)}\t${line}`)
      .join("\n");
  }

  async readRaw(path: string): Promise<AnyFileData> {
    const result = await this.inner.readRaw(path);
    if (result.error !== undefined) throw new Error(result.error);
    return result.data;
  }

  async delete(path: string) {
    const { error } = await this.inner.delete(path);
    return error === undefined ? { path } : { error: `Error: ${error}` };
  }

  async uploadFiles(files: [string, Uint8Array][]) {
    return this.inner.uploadFiles(files);
  }

  async downloadFiles(paths: string[]) {
    return this.inner.downloadFiles(paths);
  }

  async grepRaw(pattern: string, path?: string | null, glob?: string | null): Promise<GrepMatch[] | string> {
    const result = await this.inner.grep(pattern, path, glob);
    return result.error ?? result.matches;
  }

  async globInfo(pattern: string, path = "/"): Promise<FileInfo[]> {
    return (await this.inner.glob(pattern, path)).files ?? [];
  }

  async write(path: string, content: string) {
    const { error } = await this.inner.write(path, content);
    return error === undefined ? { path, filesUpdate: null } : { error: `Error: ${error}` };
  }

  async edit(path: string, oldString: string, newString: string, replaceAll = false) {
    const result = await this.inner.edit(path, oldString, newString, replaceAll);
    if (result.error !== undefined) return { error: `Error: ${result.error}` };
    return { path, filesUpdate: null, occurrences: result.occurrences };
  }
}
