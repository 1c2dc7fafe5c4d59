import { deepStrictEqual } from 'node:assert';
import { expect, test } from 'vitest';
import {
  type ABundle,
  aBundle,
  aCatalog,
  aNamespace,
  anInstalledBundle,
  aSubscription,
  constraint,
  provides,
  requiresApi,
  requiresPackage,
} from '../../test/helpers/namespaces.ts';
import { Budget } from '../budget.ts';
import { type FailedNamespace, type NamespaceRequest, resolveNamespace } from './index.ts';

function failed(request: Partial<NamespaceRequest>, limit?: number): FailedNamespace {
  const options = limit === undefined ? {} : { budget: new Budget({ steps: limit }) };
  const resolution = resolveNamespace(aNamespace(request), options);
  if (resolution.kind === 'resolved') throw new Error(JSON.stringify(resolution.bundles));
  return resolution;
}

function unsatisfiable(request: Partial<NamespaceRequest>): string {
  const { reason, message } = failed(request);
  expect(reason).toBe('ConstraintsNotSatisfiable');
  return message.replace('constraints not satisfiable: ', '');
}

function prevented(request: Partial<NamespaceRequest>): string {
  const { reason, message } = failed(request);
  expect(reason).toBe('ErrorPreventedResolution');
  return message;
}

function withRed(...bundles: ABundle[]): Partial<NamespaceRequest> {
  return { subscriptions: [aSubscription('red')], catalogs: [aCatalog('c1', bundles)] };
}

test('a Subscription names what its catalog does not have', () => {
  const catalogs = [aCatalog('c1', [aBundle('blue.v1'), aBundle('b2.v1')]), aCatalog('c2', [])];
  const of = (rest: object) => {
    const text = unsatisfiable({ subscriptions: [aSubscription('blue', rest)], catalogs });
    expect(text).toContain('subscription blue exists');
    return text.replace(', subscription blue exists', '');
  };
  deepStrictEqual(
    of({ catalog: { name: 'c3', namespace: 'olm' } }),
    'no operators found from catalog c3 in namespace olm referenced by subscription blue',
  );
  deepStrictEqual(
    of({ packageName: 'green' }),
    'no operators found in package green in the catalog referenced by subscription blue',
  );
  deepStrictEqual(
    of({ channel: 'beta' }),
    'no operators found in channel beta of package blue in the catalog referenced by subscription blue',
  );
  deepStrictEqual(
    of({ startingCSV: 'zz' }),
    'no operators found with name zz in channel stable of package blue in the catalog referenced by subscription blue',
  );
});

test('a Subscription for a channel whose bundle is there twice, and skipped by itself', () => {
  deepStrictEqual(
    unsatisfiable(withRed(aBundle('red.v1'), aBundle('red.v1', [], { skips: ['red.v1'] }))),
    'no operators found matching the criteria of subscription red, subscription red exists',
  );
});

test('labels, and alternatives of a subscription, in the texts', () => {
  deepStrictEqual(
    unsatisfiable(
      withRed(
        aBundle('red.v2', [{ type: 'olm.label.required', value: { label: 'l' } }], {
          replaces: 'red.v1',
        }),
        aBundle('red.v1', [requiresPackage('blue', '>=2.0.0')], { replaces: 'red.v0' }),
        aBundle('red.v0', [requiresApi('Blue')]),
      ),
    ),
    'bundle red.v0 requires an operator providing an API with group: blues.example.com, version: v1, kind: Blue, bundle red.v1 requires an operator with package: blue and with version in range: >=2.0.0, bundle red.v2 requires an operator with label: l, subscription red exists, subscription red requires at least one of c1/olm/stable/red.v2, c1/olm/stable/red.v1 or c1/olm/stable/red.v0',
  );
});

test('three providers of an API are named in order', () => {
  const names = ['z', 'y', 'x'];
  const message = unsatisfiable({
    subscriptions: names.map((name) => aSubscription(name)),
    catalogs: [
      aCatalog(
        'c1',
        names.map((name) => aBundle(`${name}.v1`, [provides('Blue')])),
      ),
    ],
  });
  expect(message).toContain(
    'c1/olm/stable/x.v1, c1/olm/stable/y.v1 and c1/olm/stable/z.v1 provide Blue (blues.example.com/v1)',
  );
});

test('a bundle that provides an API twice clashes with itself, as in OLM', () => {
  deepStrictEqual(
    unsatisfiable(withRed(aBundle('red.v1', [provides('Red'), provides('Red')]))),
    'c1/olm/stable/red.v1 and c1/olm/stable/red.v1 provide Red (reds.example.com/v1), subscription red exists, subscription red requires c1/olm/stable/red.v1',
  );
});

test('invalid constraints prevent the resolution once their bundle is considered', () => {
  const bad = aBundle('blue.v1', [constraint({ foo: 1 })]);
  deepStrictEqual(
    prevented(withRed(aBundle('red.v1', [requiresPackage('blue', '>=1.0.0')]), bad)),
    'parse olm.constraint: json: unknown field "foo"',
  );
  deepStrictEqual(resolveNamespace(aNamespace(withRed(aBundle('red.v1'), bad))).kind, 'resolved');
  deepStrictEqual(
    prevented(withRed(aBundle('red.v1', [constraint({})]))),
    'convert olm.constraint to resolver predicate: constraint is empty',
  );
});

test('several errors are named once each, in brackets', () => {
  const invalid = constraint({ foo: 1 });
  const catalogs = [
    aCatalog('c1', [
      aBundle('a.v1', [invalid]),
      aBundle('b.v1', [constraint({})]),
      aBundle('c.v1', [invalid]),
    ]),
  ];
  deepStrictEqual(
    prevented({ subscriptions: ['c', 'b', 'a'].map((name) => aSubscription(name)), catalogs }),
    '[parse olm.constraint: json: unknown field "foo", convert olm.constraint to resolver predicate: constraint is empty]',
  );
});

test('a channel without order prevents the resolution', () => {
  deepStrictEqual(
    prevented(
      withRed(
        aBundle('red.v1', [requiresApi('Blue')]),
        aBundle('blue.v1', [provides('Blue')]),
        aBundle('blue.v0'),
      ),
    ),
    'a unique replacement chain within a channel is required to determine the relative order between channel entries, but 2 replacement chains were found in channel "stable" of package "blue": blue.v1, blue.v0',
  );
  deepStrictEqual(
    prevented(withRed(aBundle('red.v1', [], { replaces: 'red.v1' }))),
    'no channel heads (entries not replaced by another entry) found in channel "stable" of package "red"',
  );
});

test('a catalog that cannot be used prevents all resolutions of its namespaces', () => {
  const error = 'no registry client established for catalogsource olm/c2';
  const broken = { catalog: { name: 'c2', namespace: 'olm', priority: 0 }, error };
  const catalogs = [aCatalog('c1', [aBundle('red.v1')]), broken];
  const request = { subscriptions: [aSubscription('red')], catalogs };
  deepStrictEqual(prevented(request), `error using catalogsource olm/c2: ${error}`);
  const elsewhere = { ...broken, catalog: { ...broken.catalog, namespace: 'other' } };
  const { kind } = resolveNamespace(
    aNamespace({ ...request, catalogs: [aCatalog('c1', [aBundle('red.v1')]), elsewhere] }),
  );
  deepStrictEqual(kind, 'resolved');
});

test('without global catalogs those of the namespace alone are used', () => {
  const catalogs = [aCatalog('c1', [aBundle('red.v1')])];
  const request = { subscriptions: [aSubscription('red')], catalogs };
  const { globalNamespace: _excluded, ...local } = aNamespace(request);
  expect(resolveNamespace(local)).toMatchObject({
    message:
      'constraints not satisfiable: no operators found from catalog c1 in namespace olm referenced by subscription red, subscription red exists',
  });
});

test('a namespace has one OperatorGroup', () => {
  deepStrictEqual(
    prevented({ operatorGroups: 2 }),
    'expected 1 OperatorGroup in the namespace, found 2',
  );
});

const owned = (...names: string[]) => ({
  customResourceDefinitions: names.map((name) => ({ name, version: 'v1', kind: 'Blue' })),
  apiServices: [],
});

test('installed bundles without properties provide what they own', () => {
  const blue = { properties: undefined, owned: owned('blues.blues.example.com') };
  const request = withRed(aBundle('red.v1', [requiresApi('Blue')]));
  const installed = [anInstalledBundle(aBundle('blue.v1'), blue)];
  expect(resolveNamespace(aNamespace({ ...request, installed }))).toMatchObject({
    bundles: [{ name: 'red.v1' }],
  });
  const nameless = [anInstalledBundle(aBundle('blue.v1'), { ...blue, owned: owned('blues') })];
  deepStrictEqual(
    prevented({ ...request, installed: nameless }),
    'error using catalogsource team/@existing: error parsing crd name: blues',
  );
});

test('fail forward leaves out what is replaced by a bundle that failed', () => {
  const blue = [provides('Blue')];
  const request = {
    ...withRed(aBundle('red.v1', [requiresApi('Blue')]), aBundle('blue.v3', blue)),
    installed: [
      anInstalledBundle(aBundle('blue.v1', blue), { phase: 'Replacing' }),
      anInstalledBundle(aBundle('blue.v2'), { phase: 'Failed', replaces: 'blue.v1' }),
    ],
  };
  deepStrictEqual(
    unsatisfiable({ ...request, failForward: true }),
    '@existing/team//blue.v2 and c1/olm/stable/blue.v3 originate from package blue, bundle red.v1 requires an operator providing an API with group: blues.example.com, version: v1, kind: Blue, clusterserviceversion blue.v2 exists and is not referenced by a subscription, subscription red exists, subscription red requires c1/olm/stable/red.v1',
  );
  const ready = anInstalledBundle(aBundle('blue.v1', blue), { phase: 'Succeeded' });
  deepStrictEqual(
    prevented({ ...request, failForward: true, installed: [ready, ...request.installed.slice(1)] }),
    'error using catalogsource team/@existing: csv team/blue.v1 in phase Succeeded instead of Replacing',
  );
});

test('a problem past the limit of steps is an error, and is explained', () => {
  const { reason, message, explanation } = failed(withRed(aBundle('red.v1')), 1);
  deepStrictEqual(reason, 'ErrorPreventedResolution');
  expect(message).toMatch(
    /^resolving namespace \S+ takes more than 1 steps: delete Subscriptions/u,
  );
  deepStrictEqual(explanation.message, message);
});

test('many reasons and mutual requirements are bounded, in work and in what is explained', () => {
  const chain = (name: string, properties: (at: number) => ReturnType<typeof requiresApi>) =>
    Array.from({ length: 300 }, (_, at) =>
      aBundle(
        `${name}.v${at}`,
        [properties(at)],
        at === 0 ? {} : { replaces: `${name}.v${at - 1}` },
      ),
    );
  const { message, explanation } = failed(withRed(...chain('red', (at) => requiresApi(`X${at}`))));
  deepStrictEqual(message.split(', bundle red.').length, 300);
  deepStrictEqual(explanation.chain.length, 31);
  deepStrictEqual(explanation.chain[30], 'And 272 more constraints.');
  deepStrictEqual(explanation.suggestions.length, 10);
  const mutual = [
    ...chain('red', () => requiresPackage('blue', '>=0.0.0')),
    ...chain('blue', () => requiresPackage('red', '>=0.0.0')),
  ];
  expect(failed(withRed(...mutual), 50_000).message).toMatch(/takes more than 50000 steps/u);
});
