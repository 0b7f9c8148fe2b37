/** Logs a browser in and out, and shows the current principal. */
import type { Context } from 'hono';
import type { SessionReply, TokenInfo } from '../../wire/api.ts';
import { answers, createRoute, jsonBody, reply, z, type Api, type Deps, type Env } from '../context.ts';
import { cookieName, principalOf, type Guards } from '../guards.ts';
import { ProblemError } from '../problems.ts';
import { session, sessionInput } from '../../wire/schemas.ts';
import type { Session } from '../sessions.ts';
import type { Principal } from '../tokens.ts';

export function sessionRoutes(api: Api, deps: Deps, guards: Guards): void {
  const { inbox, sessions, tokens } = deps;
  const whoIs = async (who: Principal): Promise<SessionReply> => {
    const info = (await tokens.describe(who)) as TokenInfo;
    return {
      who: info,
      project: who.project ?? deps.project,
      version: deps.version,
      store: inbox.store.name,
      shell: deps.shell(),
      now: inbox.store.now(),
      head: await inbox.store.head(),
    };
  };

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/session',
      operationId: 'logIn',
      tags: ['session'],
      summary: 'Log a browser in with a single-use code or a token: the answer sets a cookie',
      security: [],
      request: { body: jsonBody(sessionInput) },
      responses: answers(session, 'the caller, who is now logged in'),
    }),
    async (c) => {
      // Without this check, a page of another site could log a browser in here as another person.
      if (c.req.header('origin') === undefined && c.req.header('x-earpiece') !== '1')
        throw new ProblemError('bad_origin', 'a login needs the Origin of this server, or the header x-earpiece: 1');
      const body = c.req.valid('json');
      let made: Session;
      try {
        made = 'code' in body ? await sessions.byCode(body.code) : await sessions.byToken(body.token);
      } catch (error) {
        throw error instanceof ProblemError ? guards.failed(c, error) : error;
      }
      setCookie(c, made.token, made.maxAgeS);
      const who = (await tokens.check(made.token)) as Principal;
      return reply<SessionReply>(c, await whoIs(who));
    },
  );
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/session',
      operationId: 'whoAmI',
      tags: ['session'],
      summary: "Show the rights of the caller, and the server's version",
      responses: answers(session, 'the caller'),
    }),
    async (c) => reply<SessionReply>(c, await whoIs(principalOf(c))),
  );
  api.openapi(
    createRoute({
      method: 'delete',
      path: '/api/session',
      operationId: 'logOut',
      tags: ['session'],
      summary: 'Log this browser out',
      responses: answers(z.object({ ended: z.boolean() }).openapi('Ended'), 'logged out'),
    }),
    async (c) => {
      const who = principalOf(c);
      if (!who.session)
        throw new ProblemError(
          'bad_argument',
          'this is a token and not a session; revoke the token with DELETE /api/tokens/{id}',
        );
      await tokens.logOut(who);
      setCookie(c, '', 0);
      return reply(c, { ended: true });
    },
  );
}

function setCookie(c: Context<Env>, value: string, maxAgeS: number): void {
  // If a proxy serves the page over TLS, the browser may send the cookie only over TLS.
  const secure = c.req.header('origin')?.startsWith('https:') ? '; Secure' : '';
  c.header('set-cookie', `${cookieName(c)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`);
}
