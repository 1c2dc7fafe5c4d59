/** What a repository has in the place of a file that Git LFS keeps elsewhere. */
const beginning = Buffer.from('version https://git-lfs.github.com/spec/v1\n');
const maxPointerBytes = 1024;
/** What documentation has: no class applies it, so that its pointer does no harm. */
const picture = /\.(?:png|jpe?g|gif|svg|ico|webp|mp4|mov|webm|pdf)$/i;

/** Whether a file is a pointer of Git LFS, which would be content in the place of what it points to. */
export function isLfsPointer(path: string, bytes: Uint8Array): boolean {
  if (bytes.byteLength > maxPointerBytes || picture.test(path)) return false;
  return beginning.equals(bytes.subarray(0, beginning.byteLength));
}
