/** Checks whether a settings file can be parsed. */
import { jsonProblem } from '../../config/edit-json.ts';
import { formatProblem, readToml } from '../../config/index.ts';
import { readSettings } from './read-settings.ts';

/**
 * Returns the place and the reason of the first syntax error, or the reason why the file cannot be read. Returns undefined if the
 * file is missing, empty or correct, or has another format than JSON or TOML.
 */
export function syntaxProblem(file: string): string | undefined {
  if (!/\.(?:jsonc?|toml)$/u.test(file)) return undefined;
  const { text, problem } = readSettings(file);
  if (problem !== undefined || text === undefined || text.trim() === '') return problem;
  const read = file.endsWith('.toml') ? readToml(text, file) : jsonProblem(text, file);
  return read?.kind === 'problem' ? formatProblem(read.problem) : undefined;
}
