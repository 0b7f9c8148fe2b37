// `node --import ./from-source.ts example.ts`: "earpiece" is the source beside it instead of the built package.
import { registerHooks } from 'node:module';

const SOURCES: Readonly<Record<string, string>> = {
  earpiece: new URL('../../src/index.ts', import.meta.url).href,
  'earpiece/agent': new URL('../../src/agent/index.ts', import.meta.url).href,
  'earpiece/ai-sdk': new URL('../../src/ai-sdk/index.ts', import.meta.url).href,
  'earpiece/client': new URL('../../src/wire/client/index.ts', import.meta.url).href,
  'earpiece/server': new URL('../../src/server/index.ts', import.meta.url).href,
};
registerHooks({ resolve: (specifier, context, next) => next(SOURCES[specifier] ?? specifier, context) });
