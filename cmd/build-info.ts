import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const states = ['clean', 'dirty', 'unknown'] as const;

interface BuildInfo {
  /** The commit; empty when unknown. */
  readonly revision: string;
  /** Time of the commit, RFC 3339. */
  readonly date: string;
  /** `dirty` when files differed from the commit. */
  readonly state: (typeof states)[number];
}

/** The file that `npm pack` puts into the package. */
export const buildInfoFile = 'build-info.json';

const unknown: BuildInfo = { revision: 'unknown', date: 'unknown', state: 'unknown' };

/**
 * The source of this program's build: from the package's file, otherwise from git in a checkout.
 */
export function buildInfo(folder = import.meta.dirname): BuildInfo {
  const root = packageRoot(folder);
  return root === undefined ? unknown : (recorded(root) ?? checkedOut(root));
}

/** The state of a git checkout; unknown for another folder. */
export function checkedOut(root: string): BuildInfo {
  // A package that is installed within another project's repository does not belong to it.
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

/** The program runs from its sources, or from dist/. */
export function packageRoot(folder: string): string | undefined {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : packageRoot(parent);
}

/** The version in the nearest package.json: the program runs from its sources, or from dist/. */
export function version(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const text = readFileSync(new URL(place, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Look one folder up.
    }
  }
  return 'unknown';
}
