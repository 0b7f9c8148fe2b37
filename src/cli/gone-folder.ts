/** Lets a command that serves an agent continue in another folder if its working folder was deleted. */
import { inputAtOnce } from './hook-input.ts';

const SERVES = new Set(['hook', 'gateway', 'mcp', 'bridge']);

/** Changes to the folder of the hook's event, otherwise to the home folder of the user, otherwise to the root. */
export function leaveGoneFolder(command: string | undefined): void {
  if (command === undefined || !SERVES.has(command)) return;
  const own = command === 'hook' ? inputAtOnce()?.['cwd'] : undefined;
  const found = [own, process.env['HOME'], '/'].find((folder) => typeof folder === 'string' && entered(folder));
  // A hook needs no message, because its event names the folder.
  if (command !== 'hook')
    process.stderr.write(
      `earpiece: the working folder no longer exists; earpiece ${command} works in ${JSON.stringify(found)} instead\n`,
    );
}

function entered(folder: string): boolean {
  try {
    process.chdir(folder);
    return true;
  } catch {
    return false;
  }
}
