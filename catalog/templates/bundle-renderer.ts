import type { RenderedBundle } from '../render/index.ts';

/**
 * Renders the bundle of an image, with the requested migrations.
 * @throws TerminalError `render reference "…": …`
 */
export type BundleRenderer = (image: string) => Promise<readonly RenderedBundle[]>;
