/** Finds the settings that make Codex ignore Earpiece. */
import { realpathSync } from 'node:fs';
import { codexRequirements, codexSettings } from './folders.ts';
import { SERVER_NAME } from './ours.ts';
import type { Disabled, Place } from './setup.ts';
import { each, hooksAre, isDisabled, last, others, serverOff, sourcesOf, toml, type Source } from './switches-found.ts';

/** Returns the settings that Codex reads in this project. */
export function codexSources(place: Place): readonly Source[] {
  const files = sourcesOf(codexSettings(place), toml);
  return trusts(files, place) ? files : files.filter(({ of }) => of !== 'project');
}

export function codex(place: Place): readonly Disabled[] {
  const sources = codexSources(place);
  const required = sourcesOf([{ file: codexRequirements(place), of: 'machine' }], toml);
  return [
    ...hooksAre(feature(sources), false),
    ...hooksAre(feature(required), false),
    ...hooksAre(each(required, ['allow_managed_hooks_only']), true),
    ...isDisabled(last(sources, ['mcp_servers', SERVER_NAME, 'enabled'])),
    ...others(
      each(
        sources.filter(({ of }) => of !== 'user'),
        ['mcp_servers', SERVER_NAME],
      ),
    ),
    ...each(required, ['mcp_servers'])
      .filter(({ value }) => !Object.hasOwn(Object(value) as object, SERVER_NAME))
      .map((found) => serverOff(found, `without "${SERVER_NAME}"`)),
  ];
}

/** Finds the setting of the feature `hooks`, whose older name is `codex_hooks`. */
function feature(sources: readonly Source[]) {
  const found = last(sources, ['features', 'hooks']);
  return found.length > 0 ? found : last(sources, ['features', 'codex_hooks']);
}

/** Whether the user trusts the project. If not, Codex does not read the settings of the project. */
function trusts(sources: readonly Source[], { project }: Place): boolean {
  const own = sources.filter(({ of }) => of !== 'project');
  return [project, real(project)].some((folder) =>
    last(own, ['projects', folder, 'trust_level']).some(({ value }) => value === 'trusted'),
  );
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
