/** Collects the findings of `doctor` about Earpiece's MCP server in the settings of an agent. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { withoutSecretWords } from '../../config/secret-words.ts';
import { syntaxProblem, readSettings, type Ours, type Place, type Setup } from '../../hosts/setup/index.ts';
import type { Finding } from '../what-agents-miss.ts';
import { short } from './here.ts';

type Bad = (value: string, advice?: string) => Finding;

/** Reports settings files of an installation that the agent cannot parse. */
export function brokenFiles(setup: Setup, place: Place, ours: Ours, bad: Bad): readonly Finding[] {
  const files = new Set(setup.parts(place, ours).map(({ file }) => file));
  return [...files].flatMap((file) => {
    const problem = syntaxProblem(file);
    return problem === undefined ? [] : [bad(problem, repairing(setup))];
  });
}

/** Returns the advice for a file that an installation cannot change before a person has repaired the file. */
export const repairing = ({ name }: Pick<Setup, 'name'>): string => `repair that file, then: earpiece install ${name}`;

/**
 * Reports that Earpiece's MCP server is missing where an installation puts it, that another server has its name, or that its
 * program does not exist.
 */
export function serverFindings(setup: Setup, place: Place, ours: Ours, bad: Bad): readonly Finding[] {
  return setup.parts(place, ours).flatMap(({ file, hasServer, serverWords }) => {
    if (hasServer === undefined || syntaxProblem(file) !== undefined) return [];
    const text = readSettings(file).text ?? '';
    const words = serverWords?.(text) ?? [];
    const where = short(file, place);
    const gone = goneOf(words);
    if (gone !== undefined)
      return [bad(`the MCP server earpiece in ${where} starts a program that does not exist: ${short(gone, place)}`)];
    if (hasServer(text)) return [];
    if (words.length === 0) return [bad(`the MCP server earpiece is missing in ${where}`)];
    const started = withoutSecretWords(words).join(' ');
    return [
      bad(
        `${where} has another MCP server named "earpiece", which starts ${started}`,
        `rename that server in ${where}, then: earpiece install ${setup.name}`,
      ),
    ];
  });
}

/** Returns the absolute path of a command's program or script at which no file exists; undefined if there is none. */
export const goneOf = ([program, script]: readonly string[]): string | undefined =>
  [program, script].find((path) => path !== undefined && isAbsolute(path) && !existsSync(path));
