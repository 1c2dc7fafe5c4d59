import type { BundleFiles, ClusterFacts, KubernetesObject } from '../../core/sdk.ts';
import type { FileTexts } from '../content.ts';

/** Inputs for testing a class. A class needs at least one accepted content. */
export interface ProvisionerFixtures {
  /** Content that `bundle` accepts; for a class that serves Bundles. */
  readonly bundles?: readonly AcceptedContent[];
  /** Content that `configure` adapts to a deployment; for a class with that handler. */
  readonly configured?: readonly ConfiguredContent[];
  /** Content that `deployment` turns into objects; for a class that serves BundleDeployments. */
  readonly deployments?: readonly DeploymentFixture[];
  /**
   * Content that the class refuses, with the messages; absent or empty for a class that refuses
   * nothing.
   */
  readonly refused?: readonly RefusedContent[];
  /** Maximum milliseconds of one call of a handler (default 60000). */
  readonly timeout?: number;
}

interface Content {
  /** For the names of the tests. */
  readonly name: string;
  /**
   * Content as its source provides it; use `bundleFiles` for content that a record of texts cannot
   * express.
   */
  readonly files: FileTexts | BundleFiles;
}

/** Content that `bundle` accepts. */
export interface AcceptedContent extends Content {
  /** Everything that is stored, by path (default: not compared). */
  readonly stored?: FileTexts;
}

/** Content with a deployment of it. */
interface DeployedContent extends Content {
  /** spec.config. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Differences from `aContext`'s cluster. */
  readonly cluster?: Partial<ClusterFacts>;
}

/** Content that `configure` adapts to a deployment. */
export interface ConfiguredContent extends DeployedContent {
  /** All adapted files by path (default: not compared). */
  readonly adapted?: FileTexts;
}

/** Content that `deployment` turns into objects. */
export interface DeploymentFixture extends DeployedContent {
  /** Values of inputs, by `<kind>/<name>/<key>`, such as `Secret/db/password`. */
  readonly inputs?: FileTexts;
  /** All objects, in order (default: not compared). */
  readonly objects?: readonly KubernetesObject[];
}

/**
 * Content that the first handler refuses that receives it: `bundle`, `inputs`, `configure`,
 * `deployment`.
 */
export interface RefusedContent extends Omit<DeploymentFixture, 'objects'> {
  /** The whole message of the TerminalError, or a pattern that it matches. */
  readonly message: string | RegExp;
}
