/**
 * Builds the console into the package's folder, from which the server serves it. Scripts and styles are never inline, because the
 * content security policy forbids inline code.
 */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Every build uses React's production build, even in a test or a development shell, because the development build contains paths
// of the machine.
process.env['NODE_ENV'] = 'production';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  // `src/shown/jsx-runtime.ts` renders each text.
  plugins: [react({ jsxImportSource: 'shown' })],
  resolve: { alias: { 'shown/jsx-runtime': join(import.meta.dirname, 'src/shown/jsx-runtime.ts') } },
  build: {
    outDir: join(import.meta.dirname, '../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
