import { z } from 'zod';
import type { ObjectMeta } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { Bundle } from '../../../resolver/candidates/index.ts';
import { versionText } from '../../../resolver/versions/index.ts';

const text = z.string().max(4096);

const bundleRecordSchema = z.object({
  package: text,
  /** Empty if it is not known, as `version` and `catalog`. */
  name: text,
  version: text,
  image: text,
  catalog: text,
  /** The provisioner class of the bundle. */
  className: text,
});

const earlierBundleSchema = bundleRecordSchema.extend({
  /** Name of the Bundle that core made of it. */
  bundle: text,
});

const deploymentRecordSchema = z.object({
  of: text,
  applied: text,
  selected: bundleRecordSchema,
  active: earlierBundleSchema.optional(),
  earlier: z.array(earlierBundleSchema).max(100),
});

/** A bundle as its catalog knew it when it was selected. */
export interface BundleRecord extends Readonly<z.infer<typeof bundleRecordSchema>> {}

export interface EarlierBundle extends Readonly<z.infer<typeof earlierBundleSchema>> {}

/**
 * What the annotation of a BundleDeployment keeps: the controller knows what is installed after its
 * catalog is gone.
 */
export interface DeploymentRecord {
  /** The Operator or ClusterExtension that the BundleDeployment is of: `Operator/painter`. */
  readonly of: string;
  /** Digest of what the controller applied last. */
  readonly applied: string;
  readonly selected: BundleRecord;
  /**
   * The bundle that core reported as active last: a status may be lost or forged. Undefined before
   * the first installation.
   */
  readonly active?: EarlierBundle | undefined;
  /** Bundles that were selected before, the last one first. */
  readonly earlier: readonly EarlierBundle[];
}

/** A user may have written it: undefined for anything that is no record. */
export function readRecord({ annotations }: ObjectMeta): DeploymentRecord | undefined {
  const value = annotations?.[annotation.selectedBundle];
  if (value === undefined) return undefined;
  try {
    return deploymentRecordSchema.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

export function writeRecord(record: DeploymentRecord): string {
  return JSON.stringify(record);
}

/** As many as a rollback can reach, and bundles that were never installed between them. */
const kept = 20;

/** The earlier bundles after another one was selected in the place of `last`. */
export function withEarlier(
  earlier: readonly EarlierBundle[],
  last: EarlierBundle,
  activeBundle: string | undefined,
): readonly EarlierBundle[] {
  const list = [last, ...earlier.filter(({ bundle }) => bundle !== last.bundle)];
  return list.filter(({ bundle }, index) => index < kept || bundle === activeBundle);
}

/** The version of a catalog's bundle as its catalog writes it; empty without a valid one. */
export function bundleVersion({ version }: Pick<Bundle, 'version'>): string {
  return version === undefined ? '' : versionText(version);
}
