import { join } from 'node:path';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { OlmBundle } from '../../blobs/index.ts';
import { checkOwnedApis, definedApis, providedApis } from '../csv/provided-apis.ts';
import { relatedImages } from '../csv/related-images.ts';
import { ServiceVersion } from '../csv/service-version.ts';
import { bundleMetadata } from './bundle-metadata.ts';
import { bundleObjects, isServiceVersion, type Warn } from './bundle-objects.ts';
import { bundleProperties, declaredProperties, packageVersion } from './bundle-properties.ts';

/** A bundle as a blob, and its ClusterServiceVersion, which templates and migrations read. */
export interface RenderedBundle {
  readonly bundle: OlmBundle;
  /** JSON of the ClusterServiceVersion. */
  readonly csv: string;
}

/** Facts of a bundle for the reference of its image. */
export interface BundleFacts {
  readonly package: string;
  readonly name: string;
  readonly version: string;
}

/**
 * Renders the bundle of a directory with `manifests/` and `metadata/`.
 * @param image makes the reference of its image from facts of the bundle
 */
export async function renderBundle(
  dir: string,
  image: (facts: BundleFacts) => string,
  warn: Warn,
): Promise<RenderedBundle> {
  const objects = await bundleObjects(join(dir, 'manifests'), warn);
  if (objects.length === 0) throw new TerminalError('no bundle objects found');
  const csvObject = objects.find(isServiceVersion);
  const csv = csvObject === undefined ? undefined : new ServiceVersion(csvObject.value);
  const defined = objects.flatMap(definedApis);
  if (csvObject === undefined || csv === undefined) throw new TerminalError('no csv in bundle');
  const provided = step(`error checking provided apis in bundle ${csv.name}`, () => {
    const apis = providedApis(defined, csv);
    checkOwnedApis(apis, csv);
    return apis;
  });
  const metadata = await bundleMetadata(join(dir, 'metadata'), warn);
  const sources = { metadata, objects, csv, provided };
  const declared = step('failed to derive properties', () => declaredProperties(sources, warn));
  const bundleImage = image({
    package: metadata.packageName,
    name: csv.name,
    version: packageVersion(declared),
  });
  const named = `for bundle ${JSON.stringify(csv.name)}`;
  const properties = step(`get properties ${named}`, () => bundleProperties(declared, sources));
  const images = step(`get related images ${named}`, () => relatedImages(csv, bundleImage));
  return {
    csv: csvObject.json,
    bundle: {
      schema: 'olm.bundle',
      name: csv.name,
      package: metadata.packageName,
      image: bundleImage,
      properties,
      relatedImages: images,
    },
  };
}

function step<Value>(name: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw new TerminalError(`${name}: ${errorMessage(error)}`, { cause: error });
  }
}
