import { createGitSource } from './git-source.ts';

/** For a worker process: reading packs takes more time than an event loop has. */
// oxlint-disable-next-line import/no-default-export -- what every module of a worker exports
export default createGitSource();
