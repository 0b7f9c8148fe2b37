/** What is configured, and who decided it. Shown only: files are changed where they are. */
import type { SettingsReply } from '../../core/api.ts';
import type { Json } from '../../core/json.ts';
import { explain } from '../../config/index.ts';
import { mustBeAdmin } from '../authority.ts';
import { answers, createRoute, reply, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { settings } from '../schemas.ts';

export function settingsRoutes(api: Api, { config, project }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/settings',
      operationId: 'getSettings',
      tags: ['settings'],
      summary: 'Every setting of the folder that the server runs in, and who decided it',
      responses: answers(settings, 'settings'),
    }),
    (c) => {
      mustBeAdmin(principalOf(c), 'reading settings');
      const current = config?.();
      const said = current === undefined ? undefined : explain(current);
      return reply<SettingsReply>(c, {
        project: current?.project ?? project,
        files: (current?.files ?? []).map(({ scope, file }) => ({ scope, file })),
        settings: (said?.kind === 'table' ? said.settings : []).map((each) => ({
          key: each.key,
          // Passwords and secrets of servers stand in the values, and not in the texts.
          value: typeof each.value === 'string' ? each.text : isPlain(each.value) ? each.value : null,
          text: each.text,
          decidedBy: each.decidedBy,
          expects: each.expects,
          env: each.env ?? null,
          overridden: each.overridden.map(({ text, decidedBy }) => ({ text, decidedBy })),
        })),
      });
    },
  );
}

const isPlain = (value: unknown): value is Json =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value) || (Array.isArray(value) && value.every(isPlain));
