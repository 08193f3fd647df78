/**
 * The part of better-sqlite3 that `@langchain/langgraph-checkpoint-sqlite` uses, on a driver whose
 * binaries are prebuilt: the real package compiles for two minutes. Every contender gets the same.
 */
import { DatabaseSync } from "@photostructure/sqlite";

export default class Database {
  #db;

  constructor(path) {
    this.#db = new DatabaseSync(path);
  }

  pragma(text) {
    this.#db.exec(`PRAGMA ${text}`);
  }

  exec(sql) {
    this.#db.exec(sql);
  }

  prepare(sql) {
    const statement = this.#db.prepare(sql);
    return {
      run: (...values) => statement.run(...values.map(storable)),
      get: (...values) => statement.get(...values.map(storable)),
      all: (...values) => statement.all(...values.map(storable)),
    };
  }

  transaction(body) {
    return (...args) => {
      this.#db.exec("BEGIN");
      try {
        const result = body(...args);
        this.#db.exec("COMMIT");
        return result;
      } catch (error) {
        this.#db.exec("ROLLBACK");
        throw error;
      }
    };
  }

  close() {
    this.#db.close();
  }
}

/** better-sqlite3 stores undefined as NULL. */
function storable(value) {
  return value === undefined ? null : value;
}
