import {
  type BundleFiles,
  errorMessage,
  type KubernetesObject,
  TerminalError,
} from '../../core/sdk.ts';
import { type ConvertOptions, convert } from './convert.ts';
import { readRegistryBundle } from './read-bundle.ts';

export interface ConvertBundleOptions extends ConvertOptions {
  /** Type of the Bundle's source, which some messages depend on; that of archives where absent. */
  readonly sourceType?: string;
  /** How many objects the bundle may have; unlimited where absent. */
  readonly maxObjects?: number;
}

/**
 * Reads and converts the content of a registry+v1 bundle.
 * @throws TerminalError with the message of the Bundle's Unpacked condition (spec section 8.2).
 */
export function convertRegistryBundle(
  files: BundleFiles,
  options: ConvertBundleOptions = {},
): readonly KubernetesObject[] {
  try {
    return convert(readRegistryBundle(files, options), options);
  } catch (error) {
    throw new TerminalError(
      `convert registry+v1 bundle to plain+v0 bundle: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
