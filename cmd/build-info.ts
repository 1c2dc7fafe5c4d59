import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const states = ['clean', 'dirty', 'unknown'] as const;

interface BuildInfo {
  /** The commit; empty where it is not known. */
  readonly revision: string;
  /** Of the commit, RFC 3339. */
  readonly date: string;
  /** `dirty` where files differed from the commit. */
  readonly state: (typeof states)[number];
}

/** The file that `npm pack` puts into the package. */
export const buildInfoFile = 'build-info.json';

const unknown: BuildInfo = { revision: 'unknown', date: 'unknown', state: 'unknown' };

/** What this program was built from: what the package says, else what git says of the checkout. */
export function buildInfo(folder = import.meta.dirname): BuildInfo {
  const root = packageRoot(folder);
  return root === undefined ? unknown : (recorded(root) ?? checkedOut(root));
}

/** What git says of a checkout; nothing is known of a folder that is none. */
export function checkedOut(root: string): BuildInfo {
  // A package that is installed within a repository is not of that repository.
  if (!existsSync(join(root, '.git'))) return unknown;
  try {
    const [revision = '', date = ''] = git(root, ['log', '-1', '--format=%H%n%cI']).split('\n');
    const state = git(root, ['status', '--porcelain']) === '' ? 'clean' : 'dirty';
    return { revision, date, state };
  } catch {
    return unknown;
  }
}

function recorded(root: string): BuildInfo | undefined {
  try {
    const text = readFileSync(join(root, buildInfoFile), 'utf8');
    const { revision, date, state } = JSON.parse(text) as Partial<Record<keyof BuildInfo, unknown>>;
    const known = states.find((each) => each === state);
    return typeof revision === 'string' && typeof date === 'string' && known !== undefined
      ? { revision, date, state: known }
      : undefined;
  } catch {
    return undefined;
  }
}

function git(root: string, args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** Sources are run in place, or from dist/. */
export function packageRoot(folder: string): string | undefined {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : packageRoot(parent);
}

/** The version in the nearest package.json: sources are run in place or from dist/. */
export function version(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const text = readFileSync(new URL(place, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Not here: one folder up.
    }
  }
  return 'unknown';
}
