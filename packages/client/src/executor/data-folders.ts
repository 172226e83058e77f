/** The folders below the data folder that are told to the agent. */
export interface DataFolders {
  readonly root: string;
  /** Output of background shells, one file each. */
  readonly terminals: string;
  /** Output that was too long for an answer. */
  readonly toolOutput: string;
}
