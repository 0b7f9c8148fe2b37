/**
 * Names the statements that only call a function of the schema. The server parses and plans a named statement once for each
 * connection, which saves about a fifth of an append's processor time. Other statements have no name, because the best plan of
 * such a statement may depend on its values.
 *
 * A pooler with a connection for each transaction may run a statement on a connection that does not know the name. So a statement
 * gets a name only on a connection that leads directly to a server process. On such a connection, the process id in the server's
 * first message is the id of the process that runs the statements. A pooler sends another id.
 */
import { hash } from 'node:crypto';
import type pg from 'pg';

/**
 * The number of uses before a connection asks for the process id. With fewer uses, the question takes more time than names save.
 */
const USES_BEFORE_NAMES = 8;
/** The codes of a server that does not know a name, or has another statement of this name. */
const WRONG_NAME: ReadonlySet<string> = new Set(['26000', '42P05']);
const CALL = /^SELECT (?:\* FROM )?@(?<called>[a-z]+)\(/u;

type Named = { readonly text: string; readonly name: string | undefined };

export class Statements {
  readonly #schema: string;
  readonly #known = new Map<string, Named>();
  readonly #uses = new WeakMap<pg.ClientBase, number>();
  readonly #direct = new WeakSet<pg.ClientBase>();
  #pooled = false;

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Counts a use of the connection. After some uses, asks whether the connection leads directly to a server process. */
  async use(client: pg.ClientBase): Promise<void> {
    if (this.#pooled) return;
    const uses = (this.#uses.get(client) ?? 0) + 1;
    if (uses > USES_BEFORE_NAMES) return;
    this.#uses.set(client, uses);
    if (uses < USES_BEFORE_NAMES) return;
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    if (rows[0]?.pid === (client as { readonly processID?: unknown }).processID) this.#direct.add(client);
    else this.#pooled = true;
  }

  /** Makes the driver's query. In the text, the schema is put before each name that is written as `@name`. */
  query(client: pg.ClientBase, text: string, values: readonly unknown[]): pg.QueryConfig {
    const { text: whole, name } = this.#named(text);
    const query = { text: whole, values: [...values] };
    return name !== undefined && !this.#pooled && this.#direct.has(client) ? { name, ...query } : query;
  }

  /**
   * Whether the error shows that a pooler has mixed up the names of prepared statements. If so, gives up all names. The failed
   * statement did nothing, so the caller may repeat it.
   */
  areWrong(error: unknown): boolean {
    if (!WRONG_NAME.has(String((error as { readonly code?: unknown } | undefined)?.code))) return false;
    this.#pooled = true;
    return true;
  }

  #named(text: string): Named {
    let named = this.#known.get(text);
    if (named === undefined) {
      const whole = text.replaceAll(/@([a-z]+)/gu, `"${this.#schema}".$1`);
      const called = CALL.exec(text)?.groups?.['called'];
      // The hash keeps a statement of another schema or release from having this name.
      const name = called === undefined ? undefined : `earpiece_${called}_${hash('sha256', whole, 'hex').slice(0, 32)}`;
      named = { text: whole, name };
      this.#known.set(text, named);
    }
    return named;
  }
}
