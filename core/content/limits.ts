import type { ContentLimits } from '../contracts/bundle-files.ts';

const mebibyte = 1024 * 1024;

/** Sane for operators and far from what a process of 512 MiB can bear; each is a flag of core. */
export const defaultLimits: ContentLimits = {
  maxBytes: 64 * mebibyte,
  maxEntries: 20_000,
  maxPathLength: 1024,
  maxDepth: 64,
  maxCompressionRatio: 200,
  timeout: 120_000,
};

/**
 * The limits for content that was within them when it was stored. Our own archives compress better
 * than those that the content came in, and have an entry for the root.
 */
export function storedLimits(limits: ContentLimits): ContentLimits {
  return {
    ...limits,
    maxEntries: limits.maxEntries + 1,
    maxCompressionRatio: Number.POSITIVE_INFINITY,
  };
}
