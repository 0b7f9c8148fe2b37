/** Shows the example of `docs/server.md`: yields the types of an agent's latest records, and then of each new record. */
// #region watch
import { createClient } from 'earpiece/client';

export async function* told(url: string, token: string, agent: string): AsyncGenerator<string> {
  const client = createClient({ url, token });
  const { items, head } = await client.log({ log: agent, newest: true });
  for (const { body } of items) yield body.type;
  for await (const { body } of client.stream({ log: agent, after: head })) yield body.type;
}
// #endregion
