export declare const PAGE: string;
export declare function buildPage(): Promise<string>;
export declare function pageSizes(): {
  readonly first: number;
  readonly all: number;
  readonly files: Readonly<Record<string, number>>;
};
