import { beforeEach, expect, test } from 'vitest';
import { aClusterExtension, anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { inlineResolver } from '../../catalogs/index.ts';
import type { Extension } from '../extension.ts';
import { clusterExtensionKind } from '../kinds/cluster-extension-kind.ts';
import { operatorKind } from '../kinds/operator-kind.ts';
import { ChoiceMemory } from './choice-memory.ts';

const { signal } = new AbortController();
const operator = operatorKind({ forceSemverUpgradeConstraints: true }).read(anOperator());
const selecting = { selector: { matchLabels: { team: 'a' } } };
const extension = clusterExtensionKind.read(aClusterExtension(selecting));
const kind = 'ClusterCatalog';

let contents: FixedContents;
let memory: ChoiceMemory;

beforeEach(() => {
  contents = new FixedContents();
  memory = new ChoiceMemory({
    contents,
    resolver: inlineResolver(contents),
    neighbours: { revisions: { any: 0, ofPackages: new Map() }, presentBeside: () => [] },
    clock: new ManualClock(),
  });
  contents.onChange((change) => memory.note(change));
});

async function advice(of: Extension): Promise<string> {
  const installed = { deployment: undefined, record: undefined, installed: undefined };
  const installation = { ...installed, conflict: undefined };
  const choice = await memory.choose({ extension: of, installation }, signal);
  return choice.kind === 'failed' ? choice.advice : choice.kind;
}

test('an Operator without a Catalog is told that it needs one, also beside a ClusterCatalog', async () => {
  contents.serve({ kind }, aPackage());
  expect(await advice(operator)).toBe(
    'There is no Catalog, and Operators get packages of nothing else: create one that has package "painter".',
  );
  contents.serve({ name: 'other' }, aPackage({ name: 'brush' }));
  expect(await advice(operator)).toBe(
    'No available catalog has package "painter". Check the package name "painter".',
  );
});

test('a ClusterExtension is told what its selector leaves, and what is switched off', async () => {
  expect(await advice(extension)).toMatch(/^There is no ClusterCatalog, and ClusterExtensions get/);
  contents.serve({ kind }, aPackage());
  expect(await advice(extension)).toBe(
    'spec.source.catalog.selector selects none of ClusterCatalog "colours": change it, or the labels of one.',
  );
  contents.lose({ kind, name: 'off', labels: { team: 'a' } }, 'Unavailable', 'switched off');
  expect(await advice(extension)).toBe(
    'ClusterCatalog "off" is switched off: set spec.availabilityMode to Available.',
  );
  contents.serve({ kind, name: 'off', labels: { team: 'a' } }, aPackage());
  expect(await advice(extension)).toBe('resolved');
});
