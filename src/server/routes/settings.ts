/**
 * Shows the configuration and the source of each value, and changes the settings that people change while agents work. A change
 * is written to the configuration file, so the command line shows it. Most new values take effect with the next carrier.
 */
import { existsSync } from 'node:fs';
import type { SettingChange, SettingScope, SettingsReply } from '../../wire/api.ts';
import type { Json } from '../../core/json.ts';
import { changeOf, takesEffect } from '../../config/changeable.ts';
import { deciderOf, explain, formatSource, type Config } from '../../config/index.ts';
import type { Asked, ConfigWriter } from '../../config/change.ts';
import { mustBeAdmin } from '../authority.ts';
import { answers, createRoute, jsonBody, reply, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { ProblemError } from '../problems.ts';
import { settings, settingsInput } from '../../wire/schemas.ts';

export function settingsRoutes(api: Api, deps: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/settings',
      operationId: 'getSettings',
      tags: ['settings'],
      summary: "List the settings of the server's folder, each with its source and the way to change it",
      responses: answers(settings, 'settings'),
    }),
    (c) => {
      mustBeAdmin(principalOf(c), 'reading settings');
      return reply<SettingsReply>(c, replyOf(deps));
    },
  );

  api.openapi(
    createRoute({
      method: 'patch',
      path: '/api/settings',
      operationId: 'changeSettings',
      tags: ['settings'],
      summary: "Change settings (filters, budgets, waking, view, sources) in the user's or the project's file, all or nothing",
      request: { body: jsonBody(settingsInput) },
      responses: answers(settings, 'the settings after the change'),
    }),
    async (c) => {
      mustBeAdmin(principalOf(c), 'changing settings');
      const { configWriter } = deps;
      if (configWriter === undefined)
        throw new ProblemError(
          'not_found',
          'this server cannot change settings; edit earpiece.toml by hand, then restart the server',
        );
      const { scope, settings: given } = c.req.valid('json');
      for (const key of Object.keys(given)) mustBeChangeable(key);
      await configWriter.change(
        scope,
        Object.entries(given).map(([key, value]): Asked => ({
          key,
          to: value === null ? { kind: 'unset' } : { kind: 'value', value },
        })),
      );
      return reply<SettingsReply>(c, replyOf(deps));
    },
  );
}

/** Throws for a setting that cannot be changed over the network: such a change could run commands or move the database. */
function mustBeChangeable(key: string): void {
  if (takesEffect(key) !== undefined && changeOf(key) === undefined)
    throw new ProblemError('bad_argument', `${key} cannot be changed over HTTP; use earpiece config set, or edit the file`, {
      field: key,
    });
}

function replyOf({ config, configWriter, project }: Deps): SettingsReply {
  const current = config?.();
  const said = current === undefined ? undefined : explain(current);
  const places =
    configWriter === undefined ? null : { user: placeOf(configWriter, 'user'), project: placeOf(configWriter, 'project') };
  return {
    project: current?.project ?? project,
    files: (current?.files ?? []).map(({ scope, file }) => ({ scope, file })),
    places,
    problems: configWriter?.problems() ?? [],
    settings: (said?.kind === 'table' ? said.settings : []).map((each) => ({
      key: each.key,
      // A value may contain passwords or secrets, so the answer contains its masked text, and no tables.
      value: typeof each.value === 'string' ? each.text : isPlain(each.value) ? each.value : null,
      text: each.text,
      decidedBy: each.decidedBy,
      expects: each.expects,
      env: each.env ?? null,
      overridden: each.overridden.map(({ text, decidedBy }) => ({ text, decidedBy })),
      change: current === undefined || places === null ? null : changeIn(current, places, each.key),
    })),
  };
}

function placeOf(writer: ConfigWriter, scope: SettingScope): { file: string; exists: boolean } {
  const file = writer.fileOf(scope);
  return { file, exists: existsSync(file) };
}

function changeIn(config: Config, places: NonNullable<SettingsReply['places']>, key: string): SettingChange | null {
  const change = changeOf(key);
  if (change === undefined) return null;
  const decider = deciderOf(config, key);
  const said = (config.layers.get(key) ?? []).flatMap(({ source, value }) =>
    source.kind === 'file' ? [{ file: source.file, value }] : [],
  );
  const scoped = (scope: SettingScope): SettingChange['in'][SettingScope] => {
    const { file } = places[scope];
    const own = said.find((each) => each.file === file);
    const stronger =
      !change.addsUp &&
      decider !== undefined &&
      decider.kind !== 'default' &&
      (decider.kind !== 'file' || (decider.file !== file && scope === 'user' && decider.scope === 'project'));
    return {
      decidedBy: stronger ? formatSource(decider) : null,
      set: own !== undefined,
      says: isPlain(own?.value) ? own.value : null,
    };
  };
  return { ...change, takesEffect: takesEffect(key) ?? '', in: { user: scoped('user'), project: scoped('project') } };
}

const isPlain = (value: unknown): value is Json =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value) || (Array.isArray(value) && value.every(isPlain));
