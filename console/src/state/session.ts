/**
 * Logs this browser in and out. The URL that `earpiece serve` prints contains a code that works once. The code is removed from
 * the URL first, so that the browser's history does not contain it.
 */
import { ApiError, type SessionReply } from '../../../src/wire/client/index.ts';
import { Cell } from './cell.ts';
import { serverSaid } from './clock.ts';
import { forgetAgents } from './agents.ts';
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
    await entered(code === undefined ? await client.session() : await client.logIn({ code }));
  } catch (error) {
    // The server refused the code in the URL, for example a used code. The browser may still be logged in.
    if (code !== undefined && error instanceof ApiError && error.status > 0)
      return client.session().then(entered, () => refused(error, true));
    refused(error, code !== undefined);
  }
}

/** Logs in with a token. Rejects with the reason why the token is refused. */
export const enter = async (token: string): Promise<void> => entered(await client.logIn({ token: token.trim() }));

export async function leave(): Promise<void> {
  await client.logOut();
  session.set({ kind: 'out', why: null });
}

async function entered(reply: SessionReply): Promise<void> {
  serverSaid(reply.now);
  if (reply.who.kind === 'send') {
    session.set({ kind: 'out', why: SENDS_ONLY });
    await client.logOut();
    return;
  }
  forgetAgents();
  session.set({ kind: 'in', reply });
  live.start(reply.head, () => session.set({ kind: 'out', why: 'This browser is no longer logged in.' }));
}

/** A send-only token may only queue, but every page of the console reads. */
const SENDS_ONLY = 'A send token cannot read, so it cannot log in here. Log in with an admin, project or agent token.';

function refused(error: unknown, asked: boolean): void {
  if (error instanceof ApiError && error.status === 401) session.set({ kind: 'out', why: asked ? error.message : null });
  else session.set({ kind: 'unreachable', why: error instanceof Error ? error.message : String(error) });
}
