import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { annotation, finalizer, label } from '../../api/v1alpha1/labels.ts';
import { oldestMinor } from '../../core/platform/kube/index.ts';

const root = join(import.meta.dirname, '../..');

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The code spans in the first column of a page's tables. */
function listed(page: string): readonly string[] {
  const cells = read(page).matchAll(/^\| ([^|]*) \|/gm);
  return [...cells].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  );
}

test('docs/spec/annotations.md lists every annotation, label and finalizer, and no other', () => {
  const keys = [annotation, label, finalizer].flatMap((each) => Object.values(each));
  const rows = listed('docs/spec/annotations.md').filter((text) => text.includes('/'));
  const ours = rows.filter((key) => key.startsWith('core.rukpak.io/'));
  expect(keys.filter((key) => !rows.includes(key))).toEqual([]);
  expect(ours.filter((key) => !(keys as readonly string[]).includes(key))).toEqual([]);
  expect(new Set(rows).size).toBe(rows.length);
});

/** A row of a table of annotations, and one that core sets on BundleDeployments. */
const row = /^\| `(core\.rukpak\.io\/[^`]+)` \|/gm;
const rowOfCore = /^\| `(core\.rukpak\.io\/[^`]+)` \| on a BundleDeployment\b/gm;

test('the webhook of BundleDeployments judges every annotation of them', () => {
  const page = read('docs/spec/annotations.md');
  const [, ofUsers = ''] = page.split('On a BundleDeployment:');
  const [table = ''] = ofUsers.split('On a Secret');
  const rows = [...table.matchAll(row), ...page.matchAll(rowOfCore)].map(([, key = '']) => key);
  const webhooks = read('deploy/base/webhooks/webhook-configuration.yaml').split('  - name: v');
  const ofDeployments = webhooks.find((text) => text.startsWith('bundledeployments')) ?? '';
  const judged = [...ofDeployments.matchAll(/'(core\.rukpak\.io\/[\w-]+)'/g)].map(([, key]) => key);
  const others = rows.filter((key) => key !== annotation.changedBy);
  expect(others.length).toBeGreaterThan(10);
  expect(new Set(judged)).toEqual(new Set(others));
});

test('README.md and docs/howto/install.md name the oldest Kubernetes', () => {
  for (const page of ['README.md', 'docs/howto/install.md']) {
    const named = [...read(page).matchAll(/Kubernetes 1\.(\d+) or later/g)];
    expect(named.map(([, minor]) => Number(minor))).toEqual([oldestMinor]);
  }
});

/** The reasons in a file that records Events; `isFirst ? 'A' : 'B'` has two. */
const reason = /\breason: (?:\w+ \? )?'([A-Z]\w+)'(?: : '([A-Z]\w+)')?/g;

test('docs/howto/monitoring.md lists the reason of every Event', () => {
  const files = globSync('{core,operators}/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .map(read)
    .filter((text) => /\bevents\.event\(|\bobjectEvents\(/.test(text));
  const recorded = files
    .flatMap((text) => [...text.matchAll(reason)])
    .flatMap(([, ...names]) => names.filter((name) => name !== undefined));
  expect(recorded.length).toBeGreaterThan(25);
  const rows = listed('docs/howto/monitoring.md');
  expect(recorded.filter((name) => !rows.includes(name))).toEqual([]);
});
