import { parseArgs } from 'node:util';
import type { Property } from '../../../resolver/candidates/index.ts';
import { type NamespaceRequest, resolveNamespace } from '../../../resolver/olm0/index.ts';
import {
  type ABundle,
  aBundle,
  aCatalog,
  aNamespace,
  anInstalledBundle,
  aSubscription,
  provides,
  requiresApi,
  requiresPackage,
} from '../../helpers/namespaces.ts';
import { median, report, rounded } from '../report.ts';

/**
 * Namespaces of 50 Subscriptions with dependencies, on a catalog of 350 packages with 20 bundles each in
 * two channels: nothing installed, everything installed one version behind, and a chain of requirements
 * that ends nowhere. Nothing is kept from one resolution to the next.
 */
export async function benchNamespaces(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      packages: { type: 'string', default: '350' },
      versions: { type: 'string', default: '20' },
      subscriptions: { type: 'string', default: '50' },
      runs: { type: 'string', default: '9' },
    },
  });
  const size = {
    packages: Number(values.packages),
    versions: Number(values.versions),
    subscriptions: Number(values.subscriptions),
  };
  const rows = Object.entries(requests(size)).map(([name, request]) => {
    const runs = Array.from({ length: Number(values.runs) }, () => measure(request));
    return {
      namespace: name,
      answer: answerOf(request),
      'clock ms': rounded(median(runs.map(({ clock }) => clock)), 1),
      'CPU ms': rounded(median(runs.map(({ cpu }) => cpu)), 1),
      'first ms': rounded(runs[0]?.clock ?? 0, 1),
    };
  });
  report('namespaces', rows);
}

function measure(request: NamespaceRequest): { readonly clock: number; readonly cpu: number } {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  resolveNamespace(request);
  const { user, system } = process.cpuUsage(before);
  return { clock: performance.now() - startedAt, cpu: (user + system) / 1000 };
}

function answerOf(request: NamespaceRequest): string {
  const resolution = resolveNamespace(request);
  if (resolution.kind === 'resolved') return `${resolution.bundles.length} bundles`;
  return `${resolution.message.split(', ').length} constraints in conflict`;
}

interface Size {
  readonly packages: number;
  readonly versions: number;
  readonly subscriptions: number;
}

function requests(size: Size): Readonly<Record<string, NamespaceRequest>> {
  const bundles = catalogBundles(size);
  const catalogs = [aCatalog('c1', bundles)];
  const names = Array.from({ length: size.subscriptions }, (_, at) => `p${at}`);
  const installed = bundles.filter(
    ({ version, channel }) => version === `${size.versions - 1}.0.0` && channel === 'stable',
  );
  const chain = Array.from({ length: 28 }, (_, at) =>
    aBundle(`link${at}.v1`, [requiresPackage(`link${at + 1}`, '>=1.0.0')]),
  );
  return {
    new: aNamespace({ subscriptions: names.map((name) => aSubscription(name)), catalogs }),
    upgrade: aNamespace({
      subscriptions: names.map((name) => {
        const csv = `${name}.v${size.versions - 1}`;
        return aSubscription(name, { installedCSV: csv, currentCSV: csv });
      }),
      installed: installed.map((bundle) => anInstalledBundle(bundle)),
      catalogs,
    }),
    'without solution': aNamespace({
      subscriptions: ['link0', ...names].map((name) => aSubscription(name)),
      catalogs: [aCatalog('c1', [...bundles, ...chain])],
    }),
  };
}

function catalogBundles({ packages, versions, subscriptions }: Size): ABundle[] {
  return Array.from({ length: packages }, (_, number) =>
    ['stable', 'fast'].flatMap((channel) =>
      Array.from({ length: versions }, (_unused, at): ABundle => {
        const version = versions - at;
        const before = version === 1 ? {} : { replaces: `p${number}.v${version - 1}` };
        const properties = propertiesOf(number, packages, subscriptions);
        return aBundle(`p${number}.v${version}`, properties, { channel, ...before });
      }),
    ),
  ).flat();
}

/** Each package needs an API and a version of two others that nobody subscribes to, and these more. */
function propertiesOf(number: number, packages: number, subscriptions: number): Property[] {
  const next = subscriptions + ((number * 7 + 3) % (packages - subscriptions));
  const other = subscriptions + ((number * 11 + 5) % (packages - subscriptions));
  const own = provides(`K${number}`);
  if (number >= subscriptions && number % 3 !== 0) return [own];
  return [own, requiresApi(`K${next}`), requiresPackage(`p${other}`, '>=3.0.0')];
}
