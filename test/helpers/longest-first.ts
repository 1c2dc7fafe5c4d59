import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = join(import.meta.dirname, '../..');

/**
 * Seconds that files took beside other work (load 10 to 34), of those that took over a minute, and
 * of unit tests those that took long: the order is what counts.
 */
const seconds: Readonly<Record<string, number>> = {
  'e2e/deletion-property': 1_270,
  'e2e/more-deletion-property': 1_270,
  'e2e/release-install': 970,
  'e2e/real-packages': 640,
  'e2e/real-bundles': 580,
  'e2e/memory': 570,
  'e2e/scaffold': 480,
  'e2e/real-operators': 470,
  'e2e/backup': 430,
  'e2e/release-image': 410,
  'tools/opm-catalogs': 370,
  'e2e/plan': 340,
  'e2e/service-account-bundles': 300,
  'tools/helm-template': 300,
  'tools/olm-namespaces': 290,
  'e2e/moving-from-rukpak': 260,
  'fuzz/fuzz': 240,
  'e2e/prune-and-delete': 180,
  'e2e/certificates': 180,
  'integration/scaffold': 180,
  'e2e/olm1-howto': 170,
  'tools/opm-image-files': 170,
  'e2e/crash': 170,
  'e2e/idle': 150,
  'e2e/in-cluster': 145,
  'e2e/rollback': 140,
  'e2e/split': 140,
  'e2e/chaos-faults': 140,
  'tools/opm-render': 140,
  'e2e/dry-run': 130,
  'e2e/adapted-content': 130,
  'e2e/rukpakctl': 130,
  'tools/opm-published-templates': 120,
  'e2e/hostile-class': 120,
  'e2e/install': 110,
  'tools/opm-validate': 110,
  'e2e/uninstall': 110,
  'e2e/upgrade-from-rukpak': 110,
  'e2e/nothing-is-lost': 105,
  'e2e/hooks': 100,
  'e2e/operator-config': 100,
  'e2e/olm1-dependencies': 90,
  'e2e/etcd-restore': 90,
  'e2e/breakages': 90,
  'e2e/large-bundle': 90,
  'e2e/drift': 85,
  'e2e/ordering': 80,
  'e2e/hostile-catalogs': 80,
  'integration/adoption': 75,
  'e2e/helm': 70,
  'e2e/crd-upgrade': 70,
  'e2e/sources': 65,
  'integration/deploy': 60,
  'e2e/operator-webhooks': 60,
  'e2e/operators-in-cluster': 60,
  'operators/catalogs/unpack/unpack-process': 29,
  'core/classes/run-third-party': 27,
  'operators/catalogs/resolution/served-resolver': 20,
  'cmd/ctl/deployment-commands': 16,
  'core/classes/judge-in-workers': 14,
  'core/classes/run-in-workers': 14,
  'cmd/ctl/provisioner/dev-manager': 13,
  'core/sources/git/hostile-packs': 13,
  'cmd/ctl/content/third-party-class': 13,
  'cmd/rukpakctl': 12,
  'conformance/real-bundles': 10,
  'cmd/ctl/images/interrupted': 10,
  'catalog/bundle-checks/odd-values': 9,
  'fuzz/corpus': 5,
};

/**
 * Starts with the slowest files, so that no worker has one of twenty minutes at the end. Those of
 * `integration` come after those of `e2e`, since a process goes on with files of its project only.
 * Files of a tag that the run leaves out are not started: vitest would have a process load the
 * product, to find that there is nothing to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files.filter((file) => !this.#isLeftOut(file)));
    return sorted.toSorted((a, b) => turnOf(a) - turnOf(b) || secondsOf(b) - secondsOf(a));
  }

  #isLeftOut({ moduleId }: TestSpecification): boolean {
    const tag = /^\/\/ @module-tag (\w+)$/m.exec(readFileSync(moduleId, 'utf8'))?.[1];
    return this.ctx.config.tagsFilter?.some((filter) => filter.includes(`!${tag}`)) === true;
  }
}

function turnOf({ project }: TestSpecification): number {
  return project.name === 'integration' ? 1 : 0;
}

function secondsOf({ moduleId }: TestSpecification): number {
  const path = relative(root, moduleId).replace(/^test\/|\.test\.ts$/g, '');
  return seconds[path] ?? 0;
}
