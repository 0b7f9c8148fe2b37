/** Lifts pauses for a person, like `earpiece resume`. */
import { parseAddress, logOf } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { ResumeReply } from '../../wire/api.ts';
import { mustLead } from '../authority.ts';
import { answers, createRoute, jsonBody, reply, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { resumed, resumeInput } from '../../wire/schemas.ts';
import { effectsOf, personOf } from './conversations.ts';

export function resumeRoutes(api: Api, { inbox }: Deps): void {
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/resume',
      operationId: 'resume',
      tags: ['conversations'],
      summary: 'Lift the pauses of a conversation, an agent or a project; without a pause, nothing is sent',
      request: { body: jsonBody(resumeInput) },
      responses: answers(resumed, 'the pauses that were lifted; a second request is safe'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { to: text, message, author } = c.req.valid('json');
      const to = parseAddress(text);
      mustLead(who, to.kind === 'project' ? { project: to.project } : { log: logOf(to) });
      const lifted = await inbox.resume(to, {
        person: author ?? personOf(who),
        ...defined({ message }),
      });
      // A pause for later conversations is left out, because it has no conversation to notify yet.
      const holders = lifted.filter(({ log }) => !log.endsWith('/*'));
      const told = new Map(holders.map((each) => [`${each.log}#${each.conversation ?? ''}`, each]));
      const effects = await Promise.all(
        [...told.values()].map(async ({ log, conversation, notified }) => {
          const each = await effectsOf(inbox, { log, ...(conversation === null ? {} : { conversation }) }, 'resume');
          return notified ? each : each.map((effect) => ({ ...effect, says: 'the agent continues, and had not read the pause' }));
        }),
      );
      return reply<ResumeReply>(c, { lifted, effects: effects.flat() });
    },
  );
}
