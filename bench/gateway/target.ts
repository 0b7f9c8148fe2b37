import fs from 'node:fs';
import path from 'node:path';

/** A server, and the tool call that is measured. */
export type Target = { readonly server: readonly string[]; readonly call: { readonly name: string; readonly arguments: object } };

/** Returns the official filesystem server, which reads a source file of 2 KB: a typical call of an agent. */
export function filesystem(folder: string): Target {
  const file = path.join(fs.realpathSync(folder), 'part.ts');
  fs.writeFileSync(
    file,
    Array.from({ length: 40 }, (_, i) => `const line${i} = await read("src/part-${i}.ts"); // ${i}\n`).join(''),
  );
  const program = path.join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  return {
    server: [process.execPath, program, path.dirname(file)],
    call: { name: 'read_text_file', arguments: { path: file } },
  };
}

/** A server that only answers with 2 KB, so that the gateway's share of the work is as large as possible. */
export const bare: Target = {
  server: [process.execPath, path.join(import.meta.dirname, 'server.ts')],
  call: { name: 'read', arguments: { path: 'src/main.ts' } },
};
