/**
 * Who looks at this page. The address that `earpiece serve` prints holds a code that is good once; it is taken out of the
 * address before anything else happens, so that it stands in no history.
 */
import { ApiError, type SessionReply } from '../../../src/client/index.ts';
import { Cell } from './cell.ts';
import { serverSaid } from './clock.ts';
import * as live from './live.ts';
import { client } from './server.ts';

export type Session =
  | { readonly kind: 'asking' }
  | { readonly kind: 'in'; readonly reply: SessionReply }
  | { readonly kind: 'out'; readonly why: string | null }
  | { readonly kind: 'unreachable'; readonly why: string };

export const session = new Cell<Session>({ kind: 'asking' });

export async function begin(): Promise<void> {
  const code = /^#code=([\w-]+)/u.exec(window.location.hash)?.[1];
  if (code !== undefined) window.history.replaceState(null, '', '#/agents');
  try {
    entered(code === undefined ? await client.session() : await client.logIn({ code }));
  } catch (error) {
    // An old address in an open browser: it may be logged in all the same.
    if (code !== undefined && error instanceof ApiError && error.status > 0)
      return client.session().then(entered, () => refused(error, true));
    refused(error, code !== undefined);
  }
}

/** Rejects with what is wrong with the token. */
export const enter = async (token: string): Promise<void> => entered(await client.logIn({ token: token.trim() }));

export async function leave(): Promise<void> {
  await client.logOut();
  session.set({ kind: 'out', why: null });
}

function entered(reply: SessionReply): void {
  serverSaid(reply.now);
  session.set({ kind: 'in', reply });
  live.start(reply.head, () => session.set({ kind: 'out', why: 'This browser is not logged in any more.' }));
}

function refused(error: unknown, asked: boolean): void {
  if (error instanceof ApiError && error.status === 401) session.set({ kind: 'out', why: asked ? error.message : null });
  else session.set({ kind: 'unreachable', why: error instanceof Error ? error.message : String(error) });
}
