import { readFileSync } from 'node:fs';
import { z } from 'zod';

export const architectures = ['amd64', 'arm64'] as const;
/** Name in Go and OCI. */
export type Architecture = (typeof architectures)[number];

const debianPackageSchema = z.object({
  name: z.string(),
  version: z.string(),
  /** Path from the root of a mirror: the archive, then its pool. */
  path: z.string().regex(/^debian(-security)?\/pool\/.+\.deb$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const nodePackageSchema = z.object({
  name: z.string(),
  integrity: z.string().regex(/^sha512-/),
});

const pinsSchema = z.object({
  /** Time at which snapshot.debian.org had all of these packages. */
  snapshot: z.string().regex(/^\d{8}T\d{6}Z$/),
  node: z.object({
    version: z.string(),
    packages: z.record(z.enum(architectures), nodePackageSchema),
  }),
  debian: z.record(z.enum(architectures), z.array(debianPackageSchema)),
});

export interface Pins extends Readonly<z.infer<typeof pinsSchema>> {}

/** The parts of an image besides this project, each with version and digest. */
export function readPins(): Pins {
  const text = readFileSync(new URL('./pins.json', import.meta.url), 'utf8');
  return pinsSchema.parse(JSON.parse(text));
}
