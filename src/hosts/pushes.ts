/**
 * Finds shell commands that open a pull request or push to one, in the input of a hook after a tool. This module imports no other
 * module of Earpiece, because each hook call loads it.
 */
type Table = Readonly<Record<string, unknown>>;

const PUSHES = /\bgh\s+pr\s+create\b|\bgit\b[^;&|\n]{0,200}\bpush\b/u;
const MAX_CHARS = 20_000;

/** Whether a command in this input may have opened a pull request, or pushed to the branch of one. */
export const mayHavePushed = (input: Table): boolean => commandsIn(input).some((command) => PUSHES.test(command));

function commandsIn(input: Table): readonly string[] {
  const batch = input['tool_calls'];
  const calls: readonly unknown[] = Array.isArray(batch) ? batch : [input, input['postToolUse']];
  return calls.filter(isTable).flatMap((call) => {
    const given = [call['tool_input'], call['parameters']].find(isTable)?.['command'];
    const words = Array.isArray(given) ? given.filter((word) => typeof word === 'string').join(' ') : given;
    return typeof words === 'string' ? [words.slice(0, MAX_CHARS)] : [];
  });
}

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value);
