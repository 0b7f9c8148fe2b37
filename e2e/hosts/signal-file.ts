import fs from 'node:fs';
import path from 'node:path';

/** Creates a file whose existence is a signal between two processes. */
export const raise = (file: string): void => fs.writeFileSync(file, '');

/** Resolves when the file exists, and rejects if it does not appear in time. The file's folder must exist. */
export function raised(file: string, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = fs.watch(path.dirname(file), look);
    const timer = setTimeout(() => settle(() => reject(new Error(`${file} was not raised within ${withinMs} ms`))), withinMs);
    look();

    function look(): void {
      if (fs.existsSync(file)) settle(resolve);
    }
    function settle(how: () => void): void {
      watcher.close();
      clearTimeout(timer);
      how();
    }
  });
}
