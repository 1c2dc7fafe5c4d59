import { beforeEach, describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import type { PresentBundle } from '../../../resolver/olm1/index.ts';
import { parseVersion } from '../../../resolver/versions/index.ts';
import { aBundleRecord, having } from '../../../test/helpers/bundle-record.ts';
import {
  aClusterExtension,
  anOperator,
  installedDeployment,
} from '../../../test/helpers/extension-fixture.ts';
import { aChannel, aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { inlineResolver, type PackageResolver } from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice } from '../findings.ts';
import { clusterExtensionKind } from '../kinds/cluster-extension-kind.ts';
import { operatorKind } from '../kinds/operator-kind.ts';
import { ChoiceMemory, type Surrounding } from './choice-memory.ts';

const operators = operatorKind({ forceSemverUpgradeConstraints: true });
const nothing: Installation = {
  deployment: undefined,
  record: undefined,
  installed: undefined,
  conflict: undefined,
};

const { signal } = new AbortController();
const clock = new ManualClock();

let contents: FixedContents;
let neighbours: Surrounding;
let memory: ChoiceMemory;

beforeEach(() => {
  contents = new FixedContents();
  neighbours = memoryOf([]);
  memory = memoryAmidst(neighbours);
  contents.onChange((change) => memory.note(change));
});

function memoryAmidst(surrounding: Surrounding): ChoiceMemory {
  const resolver = inlineResolver(contents);
  return new ChoiceMemory({ contents, resolver, neighbours: surrounding, clock });
}

async function choose(extension: Extension, installation = nothing): Promise<Choice> {
  return await memory.choose({ extension, installation }, signal);
}

function nameOf(choice: Choice): string {
  return choice.kind === 'resolved' ? choice.bundle.name : `${choice.kind}: ${choice.message}`;
}

function operator(spec: object = {}, name = 'painter'): Extension {
  return operators.read(anOperator({ ...spec }, name));
}

function extension(catalog: object = {}): Extension {
  return clusterExtensionKind.read(aClusterExtension({ ...catalog }));
}

describe('an Operator', () => {
  test.each([
    [{}, 'painter.v2.0.0'],
    [{ version: '1.x' }, 'painter.v1.1.0'],
    [{ version: '1.0.0' }, 'painter.v1.0.0'],
    [{ channel: 'old' }, 'painter.v1.0.0'],
    [{ channel: 'none' }, 'failed: no package "painter" found in channel "none"'],
    [{ version: '3.x' }, 'failed: no package "painter" matching version "3.x" found'],
    [{ packageName: 'brush' }, 'failed: no package "brush" found'],
  ])('with %j gets %s', async (spec, expected) => {
    const versions = ['1.0.0', '1.1.0', '2.0.0'];
    const channels = [
      aChannel(
        'stable',
        versions.map((version) => `painter.v${version}`),
      ),
      aChannel('old', ['painter.v1.0.0']),
    ];
    contents.serve({}, aPackage({ versions, channels }));
    expect(nameOf(await choose(operator(spec)))).toBe(expected);
  });

  test('upgrades within its major version, unless it ignores the constraints', async () => {
    contents.serve({}, aPackage({ versions: ['1.0.0', '1.1.0', '2.0.0'] }));
    expect(nameOf(await choose(operator(), having(aBundleRecord('1.0.0'))))).toBe('painter.v1.1.0');
    const ignoring = operator({ upgradeConstraintPolicy: 'Ignore' });
    expect(nameOf(await choose(ignoring, having(aBundleRecord('1.0.0'))))).toBe('painter.v2.0.0');
    const back = operator({ upgradeConstraintPolicy: 'Ignore', version: '1.0.0' });
    expect(nameOf(await choose(back, having(aBundleRecord('1.1.0'))))).toBe('painter.v1.0.0');
    const forced = await choose(operator({ version: '1.0.0' }), having(aBundleRecord('1.1.0')));
    expect(forced).toMatchObject({ kind: 'failed', reason: 'unsatisfiable' });
  });

  test('reads Catalogs alone, and a ClusterExtension ClusterCatalogs', async () => {
    contents.serve({ name: 'a' }, aPackage({ versions: ['1.0.0'] }));
    contents.serve({ name: 'b', kind: 'ClusterCatalog' }, aPackage({ versions: ['1.2.0'] }));
    expect(nameOf(await choose(operator()))).toBe('painter.v1.0.0');
    expect(nameOf(await choose(extension()))).toBe('painter.v1.2.0');
  });
});

describe('a ClusterExtension', () => {
  const kind = 'ClusterCatalog';

  test('goes along the edges of its catalog', async () => {
    contents.serve({ kind }, aPackage({ versions: ['1.0.0', '1.1.0', '2.0.0'] }));
    expect(nameOf(await choose(extension(), having(aBundleRecord('1.0.0'))))).toBe(
      'painter.v1.1.0',
    );
    expect(nameOf(await choose(extension(), having(aBundleRecord('1.1.0'))))).toBe(
      'painter.v2.0.0',
    );
    const any = extension({ upgradeConstraintPolicy: 'SelfCertified' });
    expect(nameOf(await choose(any, having(aBundleRecord('1.0.0'))))).toBe('painter.v2.0.0');
  });

  test('reads only catalogs that its selector selects', async () => {
    contents.serve({ name: 'a', kind }, aPackage({ versions: ['1.0.0'] }));
    contents.serve({ name: 'b', kind }, aPackage({ versions: ['1.0.0', '1.1.0'] }));
    const key = 'olm.operatorframework.io/metadata.name';
    expect(nameOf(await choose(extension({ selector: { matchLabels: { [key]: 'a' } } })))).toBe(
      'painter.v1.0.0',
    );
    expect(nameOf(await choose(extension()))).toBe(
      'failed: found bundles for package "painter" in multiple catalogs with the same priority [a b]',
    );
  });

  test('whose catalog is switched off has no bundles', async () => {
    contents.serve({ kind }, aPackage());
    contents.lose({ kind }, 'Unavailable', 'it is switched off');
    expect(nameOf(await choose(extension(), having(aBundleRecord('1.0.0'))))).toBe(
      'failed: error upgrading from currently installed version "1.0.0": no bundles found for package "painter"',
    );
  });
});

describe('a catalog without content', () => {
  test('is awaited while it has not been looked at', async () => {
    contents.serve({ name: 'a' }, aPackage());
    contents.lose({ name: 'b' }, 'Pending');
    const waiting = await choose(operator());
    expect(nameOf(waiting)).toBe('pending: Waiting for the content of Catalog "b".');
    contents.lose({ name: 'b' }, 'Failed', 'it has no label');
    expect(nameOf(await choose(operator()))).toBe('painter.v1.0.0');
  });

  test('does not lose what is installed from it to another catalog', async () => {
    contents.serve({ name: 'a' }, aPackage({ versions: ['1.0.0'] }));
    contents.serve({ name: 'b' }, aPackage({ versions: ['1.0.0', '1.5.0'] }));
    contents.lose({ name: 'a' }, 'Failed', 'no route to host');
    const installed = having(aBundleRecord('1.0.0', { catalog: 'a' }));
    expect(nameOf(await choose(operator(), installed))).toBe(
      'failed: catalog "a", which the installed bundle is from, has no content: no route to host',
    );
    contents.remove({ name: 'a' });
    expect(nameOf(await choose(operator(), installed))).toBe('painter.v1.5.0');
  });

  test('a package that cannot be read leaves what is installed, and other packages', async () => {
    contents.serve({}, aPackage(), aPackage({ name: 'brush' }));
    contents.breakPackage('painter', 'line 7 is no JSON');
    expect(nameOf(await choose(operator(), having(aBundleRecord('1.0.0'))))).toBe(
      'failed: error getting package "painter" from catalog "colours": line 7 is no JSON',
    );
    expect(nameOf(await choose(operator({ packageName: 'brush' }, 'brush')))).toBe('brush.v1.0.0');
  });
});

describe('a choice is made again', () => {
  const brush = aPackage({ name: 'brush' });

  test('only when its own package changes', async () => {
    const painter = aPackage();
    contents.serve({}, painter, brush);
    await choose(operator());
    await choose(operator());
    contents.serve({}, painter, aPackage({ name: 'brush', versions: ['2.0.0'] }));
    await choose(operator());
    expect(contents.reads).toEqual(['painter']);
    contents.serve({}, aPackage({ versions: ['1.0.0', '1.0.1'] }), brush);
    expect(nameOf(await choose(operator()))).toBe('painter.v1.0.1');
    expect(contents.reads).toEqual(['painter', 'painter']);
  });

  test('when the spec or the installed bundle changes', async () => {
    contents.serve({}, aPackage({ versions: ['1.0.0', '1.1.0'] }));
    await choose(operator());
    await choose(operator({ version: '1.0.0' }));
    await choose(operator({ version: '1.0.0' }), having(aBundleRecord('1.0.0')));
    await choose(operator({ version: '1.0.0' }), having(aBundleRecord('1.0.0')));
    expect(contents.reads).toHaveLength(3);
  });

  test('when a bundle was selected whose catalog has no content now', async () => {
    contents.serve({ name: 'b' }, aPackage());
    contents.lose({ name: 'a' }, 'Failed', 'no route to host');
    const installation = having(aBundleRecord('1.0.0', { catalog: 'b' }));
    expect(nameOf(await choose(operator(), installation))).toBe('painter.v1.0.0');
    const selected = aBundleRecord('1.1.0', { catalog: 'a' });
    const record = { of: 'Operator/painter', applied: '', selected, earlier: [] };
    expect(nameOf(await choose(operator(), { ...installation, record }))).toMatch(/^failed: /);
  });

  test('when core has begun an upgrade that no catalog has any more', async () => {
    const { status, ...deployment } = installedDeployment(operator().object, '1.1.0');
    const { activeBundle: begun } = status as { readonly activeBundle: string };
    const selected = aBundleRecord('1.1.0');
    const upgrading = (applied: object): Installation => ({
      ...having(aBundleRecord('1.0.0')),
      record: { of: 'Operator/painter', applied: '', selected, earlier: [] },
      deployment: { ...deployment, status: { applied } } as unknown as BundleDeployment,
    });
    contents.serve({}, aPackage());
    expect(nameOf(await choose(operator(), upgrading({})))).toBe('painter.v1.0.0');
    expect(nameOf(await choose(operator(), upgrading({ begun })))).toContain(
      'failed: no catalog has bundle "painter.v1.1.0" any more',
    );
  });

  test('when others change, if the bundle requires something', async () => {
    const value = { packageName: 'brush', versionRange: '>=1.0.0' };
    const properties = [{ type: 'olm.package.required', value }];
    contents.serve({}, aPackage({ properties }), brush);
    const before = await choose(operator());
    expect(before).toMatchObject({ kind: 'resolved', dependencies: [{ metBy: undefined }] });
    expect(memory.dependsOn('Operator/painter', new Set(['brush']))).toBe(true);
    expect(memory.dependsOn('Operator/painter', new Set(['canvas']))).toBe(false);
    const bundle = {
      name: 'brush.v1.0.0',
      image: 'i',
      version: parseVersion('1.0.0'),
      properties: [{ type: 'olm.package', value: { packageName: 'brush', version: '1.0.0' } }],
    };
    const of = 'Operator "b"';
    neighbours = memoryOf([{ packageName: 'brush', bundle, of, isInstalled: true }]);
    memory = memoryAmidst(neighbours);
    const after = await choose(operator());
    expect(after).toMatchObject({ dependencies: [{ metBy: { of: 'Operator "b"' } }] });
  });
});

test('a choice that took too much time is made again after a minute, two, … an hour', async () => {
  contents.serve({}, aPackage());
  const inline = inlineResolver(contents);
  const resolver: PackageResolver = {
    resolve: async (asked, by) => ({ ...(await inline.resolve(asked, by)), isWorthRetry: true }),
  };
  memory = new ChoiceMemory({ contents, resolver, neighbours, clock });
  const waits: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    await choose(operator());
    await choose(operator());
    expect(contents.reads).toHaveLength(attempt + 1);
    const wait = memory.retryAfter('Operator/painter') ?? 0;
    waits.push(wait / 60_000);
    clock.advance(wait);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(memory.retryAfter('Operator/other')).toBeUndefined();
});

test('a resolution that fails by itself is told, leaves nothing without status, and is tried again', async () => {
  contents.serve({}, aPackage());
  const inline = inlineResolver(contents);
  let failure: Error | undefined = new Error('the process that resolves packages was killed');
  const resolver: PackageResolver = {
    resolve: async (asked, by) => {
      if (failure !== undefined) throw failure;
      return await inline.resolve(asked, by);
    },
  };
  memory = new ChoiceMemory({ contents, resolver, neighbours, clock });
  expect(await choose(operator())).toMatchObject({
    kind: 'failed',
    message: 'error resolving package "painter": the process that resolves packages was killed',
    advice:
      'error resolving package "painter": the process that resolves packages was killed. The controller retries.',
  });
  failure = undefined;
  clock.advance(memory.retryAfter('Operator/painter') ?? 0);
  expect(nameOf(await choose(operator()))).toBe('painter.v1.0.0');
  const stopped = AbortSignal.abort(new Error('the process stops'));
  failure = new Error('stopped');
  const asked = { extension: operator({ version: '1.x' }), installation: nothing };
  await expect(memory.choose(asked, stopped)).rejects.toThrow('the process stops');
});

function memoryOf(present: readonly PresentBundle[]): Surrounding {
  return {
    revisions: { any: present.length, ofPackages: new Map() },
    presentBeside: () => present,
  };
}
