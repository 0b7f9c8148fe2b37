/** The clients for which `gateway --print` writes what installs us. */
export const INSTALL_HOSTS = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'cursor', 'vscode', 'json'] as const;
export type InstallHost = (typeof INSTALL_HOSTS)[number];
