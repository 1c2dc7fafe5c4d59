import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds that files took on two quiet cores, of those that take over one and a half minutes. */
const seconds: Readonly<Record<string, number>> = {
  'e2e/deletion-property': 1_200,
  'e2e/release-install': 400,
  'e2e/real-bundles': 300,
  'e2e/backup': 280,
  'fuzz/fuzz': 250,
  'e2e/scaffold': 250,
  'e2e/real-operators': 240,
  'e2e/memory': 220,
  'e2e/plan': 200,
  'e2e/moving-from-rukpak': 190,
  'e2e/release-image': 190,
  'e2e/service-account-bundles': 170,
  'e2e/prune-and-delete': 160,
  'e2e/certificates': 140,
  'integration/scaffold': 140,
  'e2e/idle': 140,
  'e2e/split': 130,
  'e2e/install': 120,
  'e2e/crash': 120,
  'e2e/rollback': 120,
  'e2e/dry-run': 120,
  'e2e/uninstall': 110,
  'e2e/hostile-class': 110,
  'e2e/adapted-content': 110,
  'e2e/upgrade-from-rukpak': 100,
  'e2e/chaos-faults': 90,
};

/** Starts with the slowest files, so that no worker has one of twenty minutes at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}

function secondsOf({ moduleId }: TestSpecification): number {
  return seconds[moduleId.replace(/^.*\/test\/|\.test\.ts$/g, '')] ?? 0;
}
