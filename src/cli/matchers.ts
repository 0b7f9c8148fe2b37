/** Finds the problem matchers that a command line names with `--matcher`. */
import type { Config, Problem } from '../config/index.ts';
import { EarpieceError, didYouMean } from '../core/errors.ts';
import { matchersWith, type Matchers } from '../sources/problems/index.ts';

/** Returns the named matchers, followed by the shipped matchers. Throws if a named matcher is unknown, untrusted or invalid. */
export function matchersOf(config: Config, names: string | undefined): Matchers {
  const wanted = (names ?? '').split(',').map((name) => name.trim());
  const forms = wanted.filter((name) => name !== '').map((name) => [name, formOf(config, name)] as const);
  return matchersWith(Object.fromEntries(forms));
}

function formOf({ matchers, held }: Config, name: string): Config['matchers'][string] {
  const form = Object.hasOwn(matchers, name) ? matchers[name] : undefined;
  if (form !== undefined) return form;
  const waiting = held.find(({ path }) => path[0] === 'matchers' && path[1] === name);
  if (waiting?.source.kind === 'file')
    throw new EarpieceError(
      'not_trusted',
      `--matcher ${name} is in ${waiting.source.file}, which is not trusted; read the file, then run: earpiece trust`,
    );
  const known = Object.keys(matchers);
  const near = didYouMean(name, known);
  const way =
    near !== undefined
      ? `did you mean ${near}?`
      : known.length > 0
        ? `the known matchers are ${known.join(', ')}`
        : `write a table [matchers.${/^[\w-]{1,64}$/u.test(name) ? name : 'NAME'}] into earpiece.toml; the shipped matchers need no --matcher`;
  throw new EarpieceError('bad_argument', `--matcher ${JSON.stringify(name.slice(0, 80))} is in no earpiece.toml here; ${way}`);
}

/** Returns a problem for each matcher with an invalid pattern. */
export function matcherProblems({ matchers, layers, held }: Config): readonly Problem[] {
  const waiting = held.filter(({ path }) => path[0] === 'matchers');
  const all = [...Object.keys(matchers).flatMap((name) => layers.get(`matchers.${name}`)?.slice(0, 1) ?? []), ...waiting];
  return all.flatMap(({ path, value, source }) => {
    try {
      matchersWith({ [path[1] ?? '']: value as Config['matchers'][string] });
      return [];
    } catch (error) {
      const { message } = error as Error;
      const place = source.kind === 'file' ? { file: source.file, line: source.line, column: source.column } : {};
      return [{ ...place, key: `matchers.${path[1] ?? ''}`, message }];
    }
  });
}
