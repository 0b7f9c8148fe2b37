/** Starts a real browser that sends requests only to the test's server. */
import { chromium, type Browser } from 'playwright-core';
import { findBrowser, WAY_OUT } from '../../scripts/browsers.ts';

// Each file of tests starts a browser, and other tests run at the same time, so the duration of a test proves nothing. The script
// that makes the pictures of the docs uses this file outside of a test.
if (process.env['VITEST'] !== undefined) (await import('vitest')).vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });
/** The timeout for one expected element. */
export const PATIENCE_MS = 60_000;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-default-apps',
  '--disable-extensions',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--metrics-recording-only',
  '--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--font-render-hinting=none',
];

export async function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error(`there is no browser: ${WAY_OUT}`);
  return chromium.launch({ executablePath, args: FLAGS, timeout: PATIENCE_MS });
}
