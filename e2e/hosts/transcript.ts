import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as poll } from 'node:timers/promises';

/** Polls until a transcript in the folder contains the text, because a host does not signal that it has written its file. */
export async function inTranscript(folder: string, text: string): Promise<void> {
  const files = (): readonly string[] =>
    fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'));
  while (!files().some((file) => fs.readFileSync(path.join(folder, file), 'utf8').includes(text))) await poll(20);
}
