import { parseArgs } from 'node:util';
import type { PackageContent } from '../../../resolver/candidates/index.ts';
import { type PackageRequest, resolvePackage } from '../../../resolver/olm1/index.ts';
import { aBundle, aPackage, aRequest, nothingAround } from '../../helpers/package-contents.ts';
import { type Row, report, rounded } from '../report.ts';

/** Processor time of one resolution, in a set of catalogs that the process has read already. */
export function benchResolvePackage(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      packages: { type: 'string', default: '350' },
      /** Of each package. */
      bundles: { type: 'string', default: '20' },
      runs: { type: 'string', default: '5' },
    },
  });
  const names = Array.from({ length: Number(values.packages) }, (_, index) => `package-${index}`);
  const library = new Map(names.map((name) => [name, [content(name, Number(values.bundles))]]));
  const contents = { of: (name: string) => library.get(name) ?? [] };
  const time = (wish: (name: string) => Partial<PackageRequest>): number => {
    const start = process.cpuUsage();
    for (const name of names) {
      resolvePackage(aRequest({ packageName: name, ...wish(name) }), contents, nothingAround);
    }
    const { user, system } = process.cpuUsage(start);
    return rounded((user + system) / names.length, 0);
  };
  const rows: Row[] = [];
  // The first run is that of a process without compiled code.
  for (let run = 0; run <= Number(values.runs); run += 1) {
    rows.push({
      'fresh, µs': time(() => ({})),
      'upgrade by semver, µs': time((name) => ({ installed: installedOf(name) })),
      'upgrade by graph, µs': time((name) => ({
        profile: 'extension',
        upgrades: 'graph',
        installed: { by: 'name', name: `${name}.v1.2.0`, version: '1.2.0' },
      })),
      'failure, µs': time((name) => ({ version: '>=9', installed: installedOf(name) })),
    });
  }
  report('resolve-package', rows.slice(1));
  return Promise.resolve();
}

function installedOf(name: string): PackageRequest['installed'] {
  return { by: 'image', image: `registry/${name}:v1.2.0`, deployment: name };
}

/** Half of the bundles require the next package, as far as to one whose number ends in 9. */
function content(name: string, count: number): PackageContent {
  const number = Number(name.slice('package-'.length));
  const next = `package-${number + 1}`;
  const isLast = number % 10 === 9;
  const requires = {
    type: 'olm.package.required',
    value: { packageName: next, versionRange: '>=1.0.0' },
  };
  const bundles = Array.from({ length: count }, (_, index) =>
    aBundle(name, `1.${index}.0`, { properties: isLast || index % 2 === 0 ? [] : [requires] }),
  );
  return aPackage({ name, bundles });
}
