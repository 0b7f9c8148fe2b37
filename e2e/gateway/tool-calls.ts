import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A call of a tool of an official MCP server. Its answer is always the same, apart from times. Each list below has a call for
 * every tool of its server.
 */
export type ToolCall = { readonly name: string; readonly args: Record<string, unknown> };

export const EVERYTHING_CALLS: readonly ToolCall[] = [
  { name: 'echo', args: { message: 'é\u2028 "x"' } },
  { name: 'echo', args: {} },
  { name: 'get-annotated-message', args: { messageType: 'error', includeImage: true } },
  { name: 'get-annotated-message', args: { messageType: 'success' } },
  { name: 'get-env', args: {} },
  { name: 'get-resource-links', args: { count: 3 } },
  { name: 'get-resource-reference', args: { resourceType: 'Text', resourceId: 1 } },
  { name: 'get-resource-reference', args: { resourceType: 'Blob', resourceId: 2 } },
  { name: 'get-structured-content', args: { location: 'Chicago' } },
  { name: 'get-structured-content', args: { location: 'nowhere' } },
  { name: 'get-sum', args: { a: 0.1, b: 0.2 } },
  { name: 'get-tiny-image', args: {} },
  { name: 'gzip-file-as-resource', args: { name: 'x.gz', data: 'data:text/plain,hello', outputType: 'resource' } },
  { name: 'toggle-simulated-logging', args: {} },
  { name: 'toggle-simulated-logging', args: {} },
  { name: 'toggle-subscriber-updates', args: {} },
  { name: 'toggle-subscriber-updates', args: {} },
  { name: 'trigger-long-running-operation', args: { duration: 0.1, steps: 2 } },
  { name: 'simulate-research-query', args: { topic: 'x' } },
  { name: 'no-such-tool', args: {} },
];

export function filesystemCalls(folder: string): readonly ToolCall[] {
  const at = (name: string): string => join(folder, name);
  return [
    { name: 'list_allowed_directories', args: {} },
    { name: 'read_file', args: { path: at('a.txt') } },
    { name: 'read_text_file', args: { path: at('a.txt'), head: 1 } },
    { name: 'read_text_file', args: { path: at('none.txt') } },
    { name: 'read_media_file', args: { path: at('dot.png') } },
    { name: 'read_multiple_files', args: { paths: [at('a.txt'), at('b.json')] } },
    { name: 'write_file', args: { path: at('new.txt'), content: 'n\u0000\n' } },
    { name: 'edit_file', args: { path: at('a.txt'), edits: [{ oldText: 'one', newText: 'two' }], dryRun: true } },
    { name: 'create_directory', args: { path: at('sub') } },
    { name: 'list_directory', args: { path: folder } },
    { name: 'list_directory_with_sizes', args: { path: folder } },
    { name: 'directory_tree', args: { path: folder } },
    { name: 'search_files', args: { path: folder, pattern: '*.txt' } },
    { name: 'get_file_info', args: { path: at('b.json') } },
    { name: 'move_file', args: { source: at('new.txt'), destination: at('moved.txt') } },
    { name: 'read_file', args: { path: '/etc/hostname' } },
  ];
}

/** Writes the initial content of the folder for `filesystemCalls`. */
export async function freshFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'a.txt'), 'one\nline é\n');
  await writeFile(join(folder, 'b.json'), '{"n": 1.0, "n": 9007199254740993}');
  await writeFile(
    join(folder, 'dot.png'),
    Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
  );
}

/** Removes times, also those in encoded text. */
export function timeless(text: string): string {
  return text
    .replaceAll(
      /"blob":"([^"]+)"/g,
      (_, base64: string) => `"blob":${JSON.stringify(timeless(Buffer.from(base64, 'base64').toString('latin1')))}`,
    )
    .replaceAll(/(created|modified|accessed): [^\\"]*/g, '$1: then')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d+:\d\d:\d\d [AP]M/g, 'then')
    .replaceAll(/"taskId":"[^"]+"/g, '"taskId":"t"');
}
