import { deepStrictEqual } from 'node:assert';
import { expect, test } from 'vitest';
import {
  type ABundle,
  aBundle,
  aCatalog,
  aNamespace,
  anInstalledBundle,
  api,
  aSubscription,
  constraint,
  provides,
  requiresApi,
  requiresPackage,
} from '../../test/helpers/namespaces.ts';
import { type NamespaceRequest, resolveNamespace } from './index.ts';

/** Names of the bundles to install. */
function resolve(request: Partial<NamespaceRequest>): readonly string[] {
  const resolution = resolveNamespace(aNamespace(request));
  if (resolution.kind === 'failed') throw new Error(resolution.message);
  return resolution.bundles.map(({ name }) => name).sort();
}

/** With Subscription red on catalog c1. */
function resolveRed(...bundles: ABundle[]): readonly string[] {
  return resolve({ subscriptions: [aSubscription('red')], catalogs: [aCatalog('c1', bundles)] });
}

function failure(request: Partial<NamespaceRequest>): string {
  const resolution = resolveNamespace(aNamespace(request));
  if (resolution.kind === 'resolved') throw new Error(JSON.stringify(resolution.generated));
  expect(resolution.reason).toBe('ConstraintsNotSatisfiable');
  return resolution.message;
}

function failureOfRed(...bundles: ABundle[]): string {
  return failure({ subscriptions: [aSubscription('red')], catalogs: [aCatalog('c1', bundles)] });
}

const blueInRange = { package: { packageName: 'blue', versionRange: '>=1.0.0' } };
const redOf = 'subscription red exists, subscription red requires c1/olm/stable/red.v1';

test('1: two requirements are met by two bundles', () => {
  const red = aBundle('red.v1', [requiresPackage('blue', '>=1.0.0'), requiresApi('Green')]);
  deepStrictEqual(resolveRed(red, aBundle('blue.v1'), aBundle('green.v1', [provides('Green')])), [
    'blue.v1',
    'green.v1',
    'red.v1',
  ]);
});

const allOfBlueAndGreen = constraint({
  all: { constraints: [blueInRange, { gvk: api('Green') }] },
});

test('2: a compound constraint is not met by two bundles', () => {
  deepStrictEqual(
    failureOfRed(
      aBundle('red.v1', [allOfBlueAndGreen]),
      aBundle('blue.v1'),
      aBundle('green.v1', [provides('Green')]),
    ),
    `constraints not satisfiable: bundle red.v1 requires an operator with package: blue and with version in range: >=1.0.0 and providing an API with group: greens.example.com, version: v1, kind: Green, ${redOf}`,
  );
});

test('3: a compound constraint is met by one bundle', () => {
  deepStrictEqual(
    resolveRed(
      aBundle('red.v1', [allOfBlueAndGreen]),
      aBundle('blue.v1', [provides('Green')]),
      aBundle('green.v1', [provides('Green')]),
    ),
    ['blue.v1', 'red.v1'],
  );
});

test('4: of alternatives the head of the channel comes first', () => {
  const versions = ['v1beta1', 'v1beta2', 'v1'];
  const anyBlue = { any: { constraints: versions.map((each) => ({ gvk: api('Blue', each) })) } };
  deepStrictEqual(
    resolveRed(
      aBundle('red.v1', [constraint(anyBlue)]),
      aBundle('blue.v1', [provides('Blue')], { replaces: 'blue.v0' }),
      aBundle('blue.v0', [provides('Blue', 'v1beta1')]),
    ),
    ['blue.v1', 'red.v1'],
  );
});

const blueWithoutGreen = constraint({
  all: {
    constraints: [blueInRange, { not: { constraints: [{ gvk: api('Green', 'v1alpha1') }] } }],
  },
});
const green = provides('Green', 'v1alpha1');
const redWithoutGreen = aBundle('red.v1', [blueWithoutGreen]);

test('5 to 8: "not" excludes a bundle as the one that meets the constraint', () => {
  deepStrictEqual(resolveRed(redWithoutGreen, aBundle('blue.v1')), ['blue.v1', 'red.v1']);
  deepStrictEqual(
    failureOfRed(redWithoutGreen, aBundle('blue.v1', [green])),
    `constraints not satisfiable: bundle red.v1 requires an operator with package: blue and with version in range: >=1.0.0 and providing an API with group: greens.example.com, version: v1alpha1, kind: Green, ${redOf}`,
  );
  const blues = [aBundle('blue.v2', [green], { replaces: 'blue.v1' }), aBundle('blue.v1')];
  deepStrictEqual(resolveRed(redWithoutGreen, ...blues), ['blue.v1', 'red.v1']);
  deepStrictEqual(
    resolve({
      subscriptions: [aSubscription('red'), aSubscription('gr')],
      catalogs: [aCatalog('c1', [redWithoutGreen, aBundle('blue.v1'), aBundle('gr.v1', [green])])],
    }),
    ['blue.v1', 'gr.v1', 'red.v1'],
  );
});

test('9: nested alternatives', () => {
  const all = (versionRange: string, version: string) => ({
    all: {
      constraints: [
        { package: { packageName: 'blue', versionRange } },
        { gvk: api('Blue', version) },
      ],
    },
  });
  const red = aBundle('red.v1', [
    constraint({ any: { constraints: [all('>=1.0.0', 'v1'), all('<1.0.0', 'v1beta1')] } }),
  ]);
  const old = aBundle('blue.v0', [provides('Blue', 'v1beta1')]);
  const head = aBundle('blue.v1', [provides('Blue')], { replaces: 'blue.v0' });
  deepStrictEqual(resolveRed(red, head, old), ['blue.v1', 'red.v1']);
  deepStrictEqual(resolveRed(red, old), ['blue.v0', 'red.v1']);
  expect(failureOfRed(red, aBundle('blue.v1'))).toMatch(
    /^constraints not satisfiable: bundle red.v1/u,
  );
});

const certified = { type: 'certified', value: 'true' };

test('10 and 11: CEL expressions over the properties of one bundle', () => {
  const rule = 'properties.exists(p, p.type == "certified")';
  const failureMessage = 'require to have "certified"';
  const red = aBundle('red.v1', [constraint({ failureMessage, cel: { rule } })]);
  deepStrictEqual(resolveRed(red, aBundle('x.v1', [certified])), ['red.v1', 'x.v1']);
  deepStrictEqual(
    failureOfRed(red, aBundle('x.v1')),
    `constraints not satisfiable: bundle red.v1 requires an operator with constraint: "properties.exists(p, p.type == \\"certified\\")" and message: "require to have \\"certified\\"", ${redOf}`,
  );
  const both = `${rule} && properties.exists(p, p.type == "stable")`;
  const strict = aBundle('red.v1', [constraint({ failureMessage, cel: { rule: both } })]);
  const y = aBundle('y.v1', [certified, { type: 'stable', value: 'true' }]);
  deepStrictEqual(resolveRed(strict, aBundle('x.v1', [certified]), y), ['red.v1', 'y.v1']);
});

const redOfBlue = aBundle('red.v1', [requiresApi('Blue')]);

function blueIn(name: string, priority: number, ...more: ABundle[]) {
  return aCatalog({ name, namespace: 'olm', priority }, [
    aBundle(`blue-${name}.v1`, [provides('Blue')]),
    ...more,
  ]);
}

test('12 to 14: catalogs by priority, the own one first, then by name', () => {
  const subscriptions = [aSubscription('red')];
  const c1 = aCatalog('c1', [redOfBlue]);
  const choose = (...catalogs: ReturnType<typeof aCatalog>[]) =>
    resolve({ subscriptions, catalogs })[0];
  deepStrictEqual(choose(c1, blueIn('c2', 1), blueIn('c3', 10)), 'blue-c3.v1');
  deepStrictEqual(choose(blueIn('c1', -5, redOfBlue), blueIn('c2', 100)), 'blue-c1.v1');
  deepStrictEqual(choose(c1, blueIn('zz', 0), blueIn('aa', 0)), 'blue-aa.v1');
});

test('15: the default channel first, other channels by name', () => {
  const blue = (channel: string, ...kinds: string[]) =>
    aBundle(
      `blue-${channel}.v1`,
      kinds.map((kind) => provides(kind)),
      {
        channel,
        packageName: 'blue',
      },
    );
  const choose = (...bundles: ABundle[]) =>
    resolve({
      subscriptions: [aSubscription('red')],
      catalogs: [aCatalog('c1', [redOfBlue, ...bundles], { blue: 'zeta' })],
    })[0];
  deepStrictEqual(choose(blue('alpha', 'Blue'), blue('zeta', 'Blue')), 'blue-zeta.v1');
  deepStrictEqual(
    choose(blue('beta', 'Blue'), blue('alpha', 'Blue'), blue('zeta')),
    'blue-alpha.v1',
  );
});

test('16: the first of a channel that meets the requirement', () => {
  deepStrictEqual(
    resolveRed(
      redOfBlue,
      aBundle('blue.v3', [], { replaces: 'blue.v2' }),
      aBundle('blue.v2', [provides('Blue')], { replaces: 'blue.v1' }),
      aBundle('blue.v1', [provides('Blue')]),
    ),
    ['blue.v2', 'red.v1'],
  );
});

test('17: two bundles that are asked for provide one API', () => {
  deepStrictEqual(
    failure({
      subscriptions: [aSubscription('b2'), aSubscription('blue')],
      catalogs: [
        aCatalog('c1', [
          aBundle('blue.v1', [provides('Blue')]),
          aBundle('b2.v1', [provides('Blue')]),
        ]),
      ],
    }),
    'constraints not satisfiable: c1/olm/stable/b2.v1 and c1/olm/stable/blue.v1 provide Blue (blues.example.com/v1), subscription b2 exists, subscription b2 requires c1/olm/stable/b2.v1, subscription blue exists, subscription blue requires c1/olm/stable/blue.v1',
  );
});

test('18: a candidate that clashes with what is asked for is passed over', () => {
  deepStrictEqual(
    resolve({
      subscriptions: [aSubscription('pink'), aSubscription('red')],
      catalogs: [
        aCatalog('c1', [
          aBundle('pink.v1', [provides('Pink')]),
          redOfBlue,
          aBundle('ablue.v1', [provides('Blue'), provides('Pink')]),
          aBundle('zblue.v1', [provides('Blue')]),
        ]),
      ],
    }),
    ['pink.v1', 'red.v1', 'zblue.v1'],
  );
});

test('19: an installed bundle is preferred', () => {
  const blue = aBundle('blue.v0', [provides('Blue')]);
  deepStrictEqual(
    resolve({
      subscriptions: [aSubscription('red')],
      installed: [anInstalledBundle(blue)],
      catalogs: [aCatalog('c1', [redOfBlue, aBundle('blue.v1', [provides('Blue')])])],
    }),
    ['red.v1'],
  );
});

test('20 and 21: ranges exclude versions, and take prereleases for versions', () => {
  deepStrictEqual(
    resolveRed(
      aBundle('red.v1', [requiresPackage('etcd', '> 1.0.0 !1.2.1')]),
      aBundle('etcd.v1-2', [], { version: '1.2.1', replaces: 'etcd.v1-1' }),
      aBundle('etcd.v1-1', [], { version: '1.1.0' }),
    ),
    ['etcd.v1-1', 'red.v1'],
  );
  deepStrictEqual(
    resolveRed(
      aBundle('red.v1', [requiresPackage('blue', '>=1.0.0 <2.0.0')]),
      aBundle('blue.v2', [], { version: '2.0.0-rc.1', replaces: 'blue.v1' }),
      aBundle('blue.v1'),
    ),
    ['blue.v2', 'red.v1'],
  );
});

function upgrade(installed: string, head: Partial<ABundle> = {}): readonly string[] {
  return resolve({
    subscriptions: [aSubscription('blue', { installedCSV: installed, currentCSV: installed })],
    installed: [anInstalledBundle(aBundle(installed))],
    catalogs: [
      aCatalog('c1', [
        aBundle('blue.v3', [], { replaces: 'blue.v2', ...head }),
        aBundle('blue.v2', [], { replaces: 'blue.v1' }),
        aBundle('blue.v1'),
      ]),
    ],
  });
}

test('22: an upgrade is one step, or a skip', () => {
  deepStrictEqual(upgrade('blue.v1'), ['blue.v2']);
  deepStrictEqual(upgrade('blue.v1', { skips: ['blue.v1'] }), ['blue.v3']);
  deepStrictEqual(upgrade('blue.v1', { skipRange: '<3.0.0' }), ['blue.v3']);
  deepStrictEqual(upgrade('blue.v3'), []);
  deepStrictEqual(upgrade('blue.v7'), []);
});

/** Both are installed in version 1 and subscribed to. */
function upgradeBoth(...bundles: ABundle[]): readonly string[] {
  const installed = bundles.filter(({ version }) => version === '1.0.0');
  return resolve({
    subscriptions: ['a', 'b'].map((name) =>
      aSubscription(name, { installedCSV: `${name}.v1`, currentCSV: `${name}.v1` }),
    ),
    installed: installed.map((bundle) => anInstalledBundle(bundle)),
    catalogs: [aCatalog('c1', bundles)],
  });
}

test('23: an upgrade that would break another operator waits', () => {
  deepStrictEqual(
    upgradeBoth(
      aBundle('a.v1', [requiresApi('Blue')]),
      aBundle('b.v2', [provides('Green')], { replaces: 'b.v1' }),
      aBundle('b.v1', [provides('Blue')]),
    ),
    [],
  );
});

test('24: operators that need each other are upgraded together', () => {
  const a1 = aBundle('a.v1', [provides('A'), requiresApi('B')]);
  const b1 = aBundle('b.v1', [provides('B'), requiresApi('A')]);
  const a2 = aBundle('a.v2', [provides('A', 'v2'), requiresApi('B', 'v2')], { replaces: 'a.v1' });
  const b2 = aBundle('b.v2', [provides('B', 'v2'), requiresApi('A', 'v2')], { replaces: 'b.v1' });
  deepStrictEqual(upgradeBoth(a1, b1, a2, b2), ['a.v2', 'b.v2']);
  deepStrictEqual(upgradeBoth(a1, b1, a2), []);
});

test('25: a deprecated bundle is not installed', () => {
  const deprecated = { type: 'olm.deprecated', value: {} };
  const head = aBundle('red.v2', [deprecated], { replaces: 'red.v1' });
  deepStrictEqual(resolveRed(head, aBundle('red.v1')), ['red.v1']);
  deepStrictEqual(
    failureOfRed(head, aBundle('red.v1', [deprecated])),
    'constraints not satisfiable: bundle c1/olm/stable/red.v1 is deprecated, bundle c1/olm/stable/red.v2 is deprecated, subscription red exists, subscription red requires at least one of c1/olm/stable/red.v2 or c1/olm/stable/red.v1',
  );
});

test('26: without a channel the head of the default one', () => {
  deepStrictEqual(
    resolve({
      subscriptions: [aSubscription('red', { channel: '' })],
      catalogs: [
        aCatalog(
          'c1',
          [
            aBundle('red-aa.v1', [], { channel: 'aa', packageName: 'red' }),
            aBundle('red-zz.v2', [], { channel: 'zz', packageName: 'red', replaces: 'red-zz.v1' }),
            aBundle('red-zz.v1', [], { channel: 'zz', packageName: 'red' }),
          ],
          { red: 'zz' },
        ),
      ],
    }),
    ['red-zz.v2'],
  );
});

test('27: a bundle without Subscription stays, and its package is taken', () => {
  deepStrictEqual(
    failure({
      subscriptions: [aSubscription('red')],
      installed: [anInstalledBundle(aBundle('red.v0'))],
      catalogs: [aCatalog('c1', [aBundle('red.v1')])],
    }),
    `constraints not satisfiable: @existing/team//red.v0 and c1/olm/stable/red.v1 originate from package red, clusterserviceversion red.v0 exists and is not referenced by a subscription, ${redOf}`,
  );
});
