/** Finds the language of a file, by the names of the Language Server Protocol, and lists the languages of common servers. */
import { basename, extname } from 'node:path';

const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  typescript: ['.ts', '.mts', '.cts'],
  typescriptreact: ['.tsx'],
  javascript: ['.js', '.mjs', '.cjs'],
  javascriptreact: ['.jsx'],
  vue: ['.vue'],
  svelte: ['.svelte'],
  python: ['.py', '.pyi'],
  go: ['.go'],
  rust: ['.rs'],
  c: ['.c', '.h'],
  cpp: ['.cc', '.cpp', '.cxx', '.hpp'],
  java: ['.java'],
  kotlin: ['.kt', '.kts'],
  csharp: ['.cs'],
  ruby: ['.rb'],
  php: ['.php'],
  lua: ['.lua'],
  elixir: ['.ex', '.exs'],
  zig: ['.zig'],
};

const SCRIPTS = ['typescript', 'typescriptreact', 'javascript', 'javascriptreact'];
/**
 * The languages of known servers. A known server gets no files in other languages, because the server would report errors in such
 * files.
 */
const SERVERS: Readonly<Record<string, readonly string[]>> = {
  'typescript-language-server': SCRIPTS,
  tsc: SCRIPTS,
  tsgo: SCRIPTS,
  vtsls: SCRIPTS,
  'pyright-langserver': ['python'],
  'basedpyright-langserver': ['python'],
  pylsp: ['python'],
  ruff: ['python'],
  ty: ['python'],
  gopls: ['go'],
  'rust-analyzer': ['rust'],
  clangd: ['c', 'cpp'],
};

/** Returns the language of a file; undefined if this server does not read the file. */
export function languageOf(path: string, command: readonly string[]): string | undefined {
  const languages = command.map((word) => SERVERS[basename(word)]).find((known) => known !== undefined) ?? Object.keys(LANGUAGES);
  return languages.find((language) => LANGUAGES[language]?.includes(extname(path)));
}
